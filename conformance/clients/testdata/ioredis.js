// A session with ioredis: node ioredis.js HOST PORT PROTOCOL
'use strict';
const assert = require('node:assert/strict');
const Redis = require('ioredis');

const [host, port, protocol] = process.argv.slice(2);
const options = {
  host, port: Number(port), protocol: Number(protocol),
  connectionName: 'ioredis-story', maxRetriesPerRequest: 1, retryStrategy: () => null,
};

async function main() {
  const redis = new Redis(options);
  await new Promise((resolve, reject) => {
    redis.once('ready', resolve); // after the ready check, which reads INFO
    redis.once('error', reject);
  });

  // Strings and bytes.
  assert.equal(await redis.set('k', 'v'), 'OK');
  assert.equal(await redis.get('k'), 'v');
  assert.equal(await redis.get('none'), null);
  assert.equal(await redis.set('k', 'w', 'NX'), null);
  assert.equal(await redis.set('k', 'w', 'XX', 'GET'), 'v');
  const bytes = Buffer.from([0, 13, 10, 255, 36]);
  await redis.set('bytes', bytes);
  assert.deepEqual(await redis.getBuffer('bytes'), bytes);
  assert.equal(await redis.incr('n'), 1);
  assert.equal(await redis.incrby('n', 41), 42);
  assert.equal(await redis.incrbyfloat('n', 0.5), '42.5');
  assert.equal(await redis.append('app', 'abc'), 3);
  assert.equal(await redis.getrange('app', 1, -1), 'bc');
  assert.equal(await redis.mset({ a: '1', b: '2' }), 'OK');
  assert.deepEqual(await redis.mget('a', 'none', 'b'), ['1', null, '2']);

  // Expiry.
  assert.equal(await redis.set('ttl', 'v', 'EX', 100), 'OK');
  const ttl = await redis.pttl('ttl');
  assert.ok(ttl > 90000 && ttl <= 100000, `pttl ${ttl}`);
  assert.equal(await redis.persist('ttl'), 1);
  assert.equal(await redis.ttl('ttl'), -1);
  assert.equal(await redis.setex('gone', 1, 'v'), 'OK');
  assert.equal(await redis.pexpire('gone', 30), 1);
  const born = Date.now();
  while (await redis.exists('gone')) assert.ok(Date.now() - born < 5000, 'did not expire');

  // Pipelines, by hand and automatic.
  const pipeline = redis.pipeline();
  for (let i = 0; i < 500; i++) pipeline.set(`p:${i}`, i).get(`p:${i}`);
  const answers = await pipeline.exec();
  assert.equal(answers.length, 1000);
  for (let i = 0; i < 500; i++) assert.deepEqual(answers[2 * i + 1], [null, String(i)]);
  const auto = new Redis({ ...options, enableAutoPipelining: true });
  const got = await Promise.all(Array.from({ length: 500 }, (_, i) => auto.get(`p:${i}`)));
  assert.deepEqual(got, Array.from({ length: 500 }, (_, i) => String(i)));

  // SCAN as a stream.
  const seen = new Set();
  for await (const keys of redis.scanStream({ match: 'p:*', count: 50 })) {
    for (const key of keys) seen.add(key);
  }
  assert.equal(seen.size, 500);

  // The connection and the server.
  assert.equal(await redis.client('GETNAME'), 'ioredis-story');
  assert.match(await redis.client('LIST'), /name=ioredis-story/);
  assert.match(await redis.client('INFO'), new RegExp(`resp=${protocol}`));
  assert.match(await redis.info(), /redis_version:\d+\.\d+\.\d+\r\n/);
  assert.match(String(await redis.config('GET', 'maxmemory-policy')), /noeviction|Object/);
  const other = new Redis({ ...options, db: 5 });
  assert.equal(await other.dbsize(), 0);
  assert.equal(await other.set('only', 'here'), 'OK');
  assert.equal(await redis.get('only'), null);
  await other.flushdb();

  // Errors reach the command they belong to, with Redis's words.
  await assert.rejects(redis.incr('k'), /^ReplyError: ERR value is not an integer or out of range$/);
  await assert.rejects(redis.call('nosuch', 'a'),
    /ERR unknown command 'nosuch', with args beginning with: 'a' /);
  await assert.rejects(redis.set('k', 'v', 'EX', 0), /ERR invalid expire time in 'set' command/);
  const mixed = await redis.pipeline().incr('k').get('a').exec();
  assert.match(mixed[0][0].message, /ERR value is not an integer/);
  assert.deepEqual(mixed[1], [null, '1']);

  // A thousand at once on one connection keep their order.
  const counts = await Promise.all(Array.from({ length: 1000 }, () => redis.incr('order')));
  assert.deepEqual(counts, Array.from({ length: 1000 }, (_, i) => i + 1));
  assert.equal(await redis.del('k', 'a', 'none'), 2);
  for (const c of [redis, auto, other]) assert.equal(await c.quit(), 'OK');
}

main().then(() => console.log('passed'), (err) => { console.error(err); process.exit(1); });
