// A session with node-redis: node noderedis.js HOST PORT PROTOCOL
'use strict';
const assert = require('node:assert/strict');
const { createClient, RESP_TYPES } = require('redis');

const [host, port, protocol] = process.argv.slice(2);
const options = {
  socket: { host, port: Number(port), reconnectStrategy: false },
  RESP: Number(protocol), name: 'node-redis-story',
};

async function main() {
  const client = createClient(options);
  client.on('error', (err) => { throw err; });
  await client.connect();
  assert.equal(await client.ping(), 'PONG');

  // Strings and bytes.
  assert.equal(await client.set('k', 'v'), 'OK');
  assert.equal(await client.get('k'), 'v');
  assert.equal(await client.get('none'), null);
  assert.equal(await client.set('k', 'w', { condition: 'NX' }), null);
  assert.equal(await client.set('k', 'w', { condition: 'XX', GET: true }), 'v');
  const bytes = Buffer.from([0, 13, 10, 255, 36]);
  await client.set('bytes', bytes);
  const raw = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  assert.deepEqual(await raw.get('bytes'), bytes);
  assert.equal(await client.incr('n'), 1);
  assert.equal(await client.incrBy('n', 41), 42);
  assert.equal(Number(await client.incrByFloat('n', 0.5)), 42.5);
  assert.equal(await client.append('app', 'abc'), 3);
  assert.equal(await client.getRange('app', 1, -1), 'bc');
  assert.equal(await client.mSet({ a: '1', b: '2' }), 'OK');
  assert.deepEqual(await client.mGet(['a', 'none', 'b']), ['1', null, '2']);
  assert.equal(await client.getDel('b'), '2');

  // Expiry.
  await client.set('ttl', 'v', { expiration: { type: 'EX', value: 100 } });
  const ttl = await client.pTTL('ttl');
  assert.ok(ttl > 90000 && ttl <= 100000, `pttl ${ttl}`);
  assert.equal(await client.persist('ttl'), 1);
  assert.equal(await client.ttl('ttl'), -1);
  await client.set('gone', 'v', { expiration: { type: 'PX', value: 30 } });
  const born = Date.now();
  while (await client.exists('gone')) assert.ok(Date.now() - born < 5000, 'did not expire');

  // Commands of one turn of the event loop are pipelined by themselves.
  await Promise.all(Array.from({ length: 500 }, (_, i) => client.set(`p:${i}`, `${i}`)));
  const got = await Promise.all(Array.from({ length: 500 }, (_, i) => client.get(`p:${i}`)));
  assert.deepEqual(got, Array.from({ length: 500 }, (_, i) => String(i)));
  const counts = await Promise.all(Array.from({ length: 1000 }, () => client.incr('order')));
  assert.deepEqual(counts, Array.from({ length: 1000 }, (_, i) => i + 1));

  // SCAN as an iterator.
  const seen = new Set();
  for await (const keys of client.scanIterator({ MATCH: 'p:*', COUNT: 50, TYPE: 'string' })) {
    for (const key of keys) seen.add(key);
  }
  assert.equal(seen.size, 500);

  // The connection and the server.
  assert.equal(await client.clientGetName(), 'node-redis-story');
  const me = await client.clientInfo();
  assert.equal(me.name, 'node-redis-story');
  assert.equal(String(me.resp), protocol);
  assert.ok(await client.clientId() > 0);
  assert.match(await client.info('server'), /redis_version:\d+\.\d+\.\d+\r\n/);
  const config = await client.configGet('maxmemory-policy');
  assert.equal(config['maxmemory-policy'], 'noeviction');
  const commands = await client.commandInfo(['get', 'set']);
  assert.equal(commands[0].name, 'get');
  assert.equal(commands[0].arity, 2);
  const other = await client.duplicate({ database: 5 }).connect();
  assert.equal(await other.dbSize(), 0);
  assert.equal(await other.set('only', 'here'), 'OK');
  assert.equal(await client.get('only'), null);
  await other.flushDb();

  // Errors reach the command they belong to, with Redis's words.
  await assert.rejects(client.incr('k'), { message: 'ERR value is not an integer or out of range' });
  await assert.rejects(client.sendCommand(['nosuch', 'a']),
    /ERR unknown command 'nosuch', with args beginning with: 'a' /);
  const mixed = await Promise.allSettled([client.incr('k'), client.get('a')]);
  assert.deepEqual(mixed.map((m) => m.status), ['rejected', 'fulfilled']);
  assert.equal(mixed[1].value, '1');
  assert.equal(await client.del(['k', 'a', 'none']), 2);
  await other.close();
  await client.close();
}

main().then(() => console.log('passed'), (err) => { console.error(err); process.exit(1); });
