package resp_test

import (
	"fmt"
	"strings"

	"kiln/wire/resp"
)

func ExampleDecoder_Next() {
	lim := resp.DefaultLimits()
	var d resp.Decoder
	var argv [][]byte
	buf := []byte("*2\r\n$3\r\nGET\r\n$1\r\nk\r\nPING\r\n*2\r\n$3\r\nGET\r\n$100\r\nab")
	for {
		args, n, err := d.Next(buf, argv[:0], &lim)
		if err != nil || n == 0 {
			fmt.Printf("%d bytes left, %d needed, error %v\n", len(buf), d.Need(), err)
			return
		}
		fmt.Printf("%q\n", args)
		buf, argv = buf[n:], args
	}
	// Output:
	// ["GET" "k"]
	// ["PING"]
	// 21 bytes left, 100 needed, error <nil>
}

func ExampleWriter_Map() {
	for _, resp3 := range []bool{false, true} {
		w := resp.Writer{Resp3: resp3}
		w.Begin()
		w.Map(1)
		w.BulkString("score")
		w.Double(0.5)
		fmt.Printf("%q, owed %d\n", w.Bytes(), w.Owed())
	}
	// Output:
	// "*2\r\n$5\r\nscore\r\n$3\r\n0.5\r\n", owed 0
	// "%1\r\n$5\r\nscore\r\n,0.5\r\n", owed 0
}

func ExampleWriter_Push() {
	w := resp.Writer{Resp3: true}
	w.Begin()
	for i, channel := range []string{"a", "b"} {
		w.Push(3)
		w.BulkString("subscribe")
		w.BulkString(channel)
		w.Int(int64(i + 1))
	}
	w.NoReply()
	fmt.Println(w.Len(), "bytes, owed", w.Owed())
	// Output: 60 bytes, owed 0
}

func ExampleWriter_Rewind() {
	var w resp.Writer
	w.Begin()
	w.OK()
	mark := w.Begin()
	w.Array(3)
	w.Int(1)
	if w.Owed() != 0 {
		w.Rewind(mark)
		w.Error("ERR internal error")
	}
	fmt.Printf("%q\n", w.Bytes())
	// Output: "+OK\r\n-ERR internal error\r\n"
}

func ExampleWriter_SaveOwed() {
	var w resp.Writer
	w.Begin()
	w.Array(2) // EXEC
	for range 2 {
		owed := w.SaveOwed()
		w.Begin()
		w.OK()
		fmt.Println("inner owes", w.Owed())
		w.RestoreOwed(owed - 1)
	}
	fmt.Println("outer owes", w.Owed())
	// Output:
	// inner owes 0
	// inner owes 0
	// outer owes 0
}

func ExampleWriter_End() {
	var w resp.Writer
	w.Begin()
	found := 0
	d := w.DeferArray()
	for _, key := range []string{"apple", "pear", "avocado"} {
		if strings.HasPrefix(key, "a") {
			w.BulkString(key)
			w.Seal()
			found++
		}
	}
	w.End(d, found)
	fmt.Printf("%q, owed %d\n", w.Bytes(), w.Owed())
	// Output: "*2\r\n$5\r\napple\r\n$7\r\navocado\r\n", owed 0
}

func ExampleWriter_BulkReserve() {
	var w resp.Writer
	w.Begin()
	copy(w.BulkReserve(5), "stone")
	fmt.Printf("%q\n", w.Bytes())
	// Output: "$5\r\nstone\r\n"
}

func ExampleError_Prefix() {
	fmt.Println(resp.Error("WRONGTYPE Operation against a key …").Prefix())
	// Output: WRONGTYPE
}

func ExampleReader() {
	r := resp.NewReader(strings.NewReader("*2\r\n$1\r\na\r\n%1\r\n+k\r\n_\r\n"))
	v, _ := r.Read()
	fmt.Println(v)
	// Output:
	// *2
	//   $"a"
	//   %1
	//     +k
	//     _
}

func ExampleAppendCommand() {
	fmt.Printf("%q\n", resp.AppendCommand(nil, "SET", "key", "value"))
	// Output: "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n"
}

func ExampleAppendDouble() {
	for _, v := range []float64{3, 0.1, 1e20, 1e-7, 4611686018427387904} {
		fmt.Printf("%s ", resp.AppendDouble(nil, v))
	}
	// Output: 3 0.1 1e+20 1e-7 4611686018427387904
}

func ExampleParseDouble() {
	for _, text := range []string{"1.5", "-inf", "0x10", "1e400", " 1"} {
		v, ok := resp.ParseDouble([]byte(text))
		fmt.Println(v, ok)
	}
	// Output:
	// 1.5 true
	// -Inf true
	// 16 true
	// 0 false
	// 0 false
}

func ExampleLongDouble() {
	value, _ := resp.ParseLongDouble([]byte("5.0e3"))
	step, _ := resp.ParseLongDouble([]byte("1e20"))
	fmt.Printf("%s\n", resp.AppendLongDouble(nil, value.Add(step)))
	// Output: 100000000000000005000
}

func ExampleParseInt() {
	for _, text := range []string{"42", "-1", "+1", "01", "-0"} {
		n, ok := resp.ParseInt([]byte(text))
		fmt.Println(n, ok)
	}
	// Output:
	// 42 true
	// -1 true
	// 0 false
	// 0 false
	// 0 false
}
