/** The version of the code below: a server with another version gets this one. */
export const LEDGER_VERSION = 3;

/**
 * The same ledger on PostgreSQL: a table of fields instead of hashes, and functions for the operations. Calls for
 * one batch wait for each other: an operation is whole, or has not happened.
 */
export const LEDGER_SQL = `
CREATE SCHEMA IF NOT EXISTS bosun;
CREATE TABLE IF NOT EXISTS bosun.fields (
  key text NOT NULL, field text NOT NULL, value text NOT NULL, PRIMARY KEY (key, field)
);
CREATE TABLE IF NOT EXISTS bosun.holds (
  batch text NOT NULL, job text NOT NULL, word text NOT NULL, nano bigint NOT NULL, tokens bigint NOT NULL,
  PRIMARY KEY (batch, job)
);
CREATE TABLE IF NOT EXISTS bosun.finished (
  id bigserial PRIMARY KEY, batch text NOT NULL, nano bigint NOT NULL, tokens bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS finished_of ON bosun.finished (batch, id);
CREATE OR REPLACE FUNCTION bosun.version() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT ${LEDGER_VERSION}';
CREATE OR REPLACE FUNCTION bosun.get(k text, f text) RETURNS text LANGUAGE sql AS
  'SELECT value FROM bosun.fields WHERE key = k AND field = f';
CREATE OR REPLACE FUNCTION bosun.put(k text, f text, v text) RETURNS void LANGUAGE sql AS
  'INSERT INTO bosun.fields VALUES (k, f, v) ON CONFLICT (key, field) DO UPDATE SET value = v';
CREATE OR REPLACE FUNCTION bosun.add(k text, f text, n bigint) RETURNS void LANGUAGE sql AS
  'INSERT INTO bosun.fields VALUES (k, f, n::text) ON CONFLICT (key, field)
   DO UPDATE SET value = (bosun.fields.value::bigint + n)::text';
CREATE OR REPLACE FUNCTION bosun.ledger_fields(b text) RETURNS text[] LANGUAGE sql AS
  'SELECT coalesce(array_agg(x), ARRAY[]::text[]) FROM bosun.fields, LATERAL unnest(ARRAY[field, value]) x WHERE key = b';
CREATE OR REPLACE FUNCTION bosun.empty(b text) RETURNS text LANGUAGE sql AS $body$
  SELECT CASE WHEN bosun.get(b, 'nano')::bigint >= bosun.get(b, 'limit_nano')::bigint THEN 'cost'
              WHEN bosun.get(b, 'tokens')::bigint >= bosun.get(b, 'limit_tokens')::bigint THEN 'tokens' END
$body$;
-- Whether what others may still need leaves enough for one more. Where nobody runs, it does. A task may need its
-- limit, or what nine of ten finished ones needed, once there are five.
CREATE OR REPLACE FUNCTION bosun.room(b text, own text) RETURNS boolean LANGUAGE plpgsql AS $body$
DECLARE
  what text;
  bound bigint;
  need bigint;
  spent bigint[];
  running bigint;
  reserved bigint;
BEGIN
  FOREACH what IN ARRAY ARRAY['nano', 'tokens'] LOOP
    bound := bosun.get(b, 'limit_' || what)::bigint;
    CONTINUE WHEN bound IS NULL;
    SELECT array_agg(n ORDER BY n) INTO spent
      FROM (SELECT CASE what WHEN 'nano' THEN nano ELSE tokens END n FROM bosun.finished WHERE batch = b) ends;
    need := bosun.get(b, 'need_' || what)::bigint;
    IF cardinality(spent) >= 5 THEN need := least(spent[ceil(cardinality(spent) * 0.9)], need); END IF;
    CONTINUE WHEN need IS NULL;
    SELECT count(*), coalesce(sum(greatest(0, need - CASE what WHEN 'nano' THEN nano ELSE tokens END)), 0)
      INTO running, reserved FROM bosun.holds WHERE batch = b AND job <> own;
    IF running > 0 AND bosun.get(b, what)::bigint + reserved + need > bound THEN RETURN false; END IF;
  END LOOP;
  RETURN true;
END $body$;
CREATE OR REPLACE FUNCTION bosun.ledger(b text, a text[]) RETURNS text[] LANGUAGE plpgsql AS $body$
DECLARE
  now bigint;
  op text := a[1];
  names text[] := ARRAY['name', 'total', 'limit_nano', 'limit_tokens', 'rpm', 'tpm', 'need_nano', 'need_tokens'];
  tasks text := b || ' tasks';
  found text[];
  held bosun.holds%ROWTYPE;
  slot bigint;
  used bigint;
BEGIN
  IF op IN ('beat', 'gone', 'workers', 'batches', 'state') THEN NULL;
  ELSE PERFORM pg_advisory_xact_lock(hashtextextended('bosun ' || b, 0));
  END IF;
  now := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  IF op IN ('take', 'admit', 'settle', 'release') THEN
    SELECT * INTO held FROM bosun.holds WHERE batch = b AND job = a[2];
  END IF;
  IF op = 'claim' THEN
    IF bosun.get(b, 'holder') <> a[2] AND bosun.get(b, 'place') <> a[3]
       AND bosun.get(b, 'until')::bigint > now THEN
      RETURN ARRAY['held', bosun.get(b, 'place')];
    END IF;
    PERFORM bosun.put(b, 'holder', a[2]), bosun.put(b, 'place', a[3]),
            bosun.put(b, 'until', (now + a[4]::bigint)::text);
    IF bosun.get(b, 'nano') IS NULL THEN
      PERFORM bosun.put(b, 'nano', a[5]), bosun.put(b, 'tokens', a[6]);
    END IF;
    IF a[5]::bigint > bosun.get(b, 'nano')::bigint THEN PERFORM bosun.put(b, 'nano', a[5]); END IF;
    FOR i IN 1..8 LOOP
      IF a[6 + i] = '' THEN DELETE FROM bosun.fields WHERE key = b AND field = names[i];
      ELSE PERFORM bosun.put(b, names[i], a[6 + i]); END IF;
    END LOOP;
    PERFORM bosun.put('batches', a[15], '1');
    RETURN ARRAY['granted', now::text] || bosun.ledger_fields(b);
  ELSIF op = 'leave' THEN
    IF bosun.get(b, 'holder') = a[2] THEN
      IF a[3] = '1' THEN
        DELETE FROM bosun.fields WHERE key IN (b, tasks) OR (key = 'batches' AND field = a[4]);
        DELETE FROM bosun.holds WHERE batch = b;
        DELETE FROM bosun.finished WHERE batch = b;
      ELSE PERFORM bosun.put(b, 'until', '0'); END IF;
    END IF;
  ELSIF op = 'state' THEN
    RETURN ARRAY['', now::text] || bosun.ledger_fields(b);
  ELSIF op = 'batches' THEN
    RETURN ARRAY(SELECT field FROM bosun.fields WHERE key = 'batches');
  ELSIF op = 'take' THEN
    IF bosun.get(b, 'holder') IS NULL THEN RETURN ARRAY['gone']; END IF;
    IF held.word IS DISTINCT FROM a[3] THEN
      IF bosun.get(b, 'halt') IS NOT NULL OR bosun.empty(b) IS NOT NULL THEN RETURN ARRAY['halted']; END IF;
      IF NOT bosun.room(b, a[2]) THEN RETURN ARRAY['full']; END IF;
      INSERT INTO bosun.holds VALUES (b, a[2], a[3], 0, 0)
        ON CONFLICT (batch, job) DO UPDATE SET word = a[3], nano = 0, tokens = 0;
      PERFORM bosun.add(tasks, 'taken|' || a[2], 1);
    END IF;
    RETURN ARRAY['begun', bosun.get(tasks, 'taken|' || a[2])];
  ELSIF op = 'admit' THEN
    IF held.word IS DISTINCT FROM a[3] THEN RETURN ARRAY['lost']; END IF;
    IF bosun.get(b, 'halt') IS NOT NULL THEN RETURN ARRAY['halted', bosun.get(b, 'halt')]; END IF;
    IF bosun.empty(b) IS NOT NULL THEN RETURN ARRAY['empty', bosun.empty(b)]; END IF;
    slot := bosun.get(b, 'closed|' || a[4])::bigint;
    IF slot > now THEN RETURN ARRAY['wait', (slot - now)::text]; END IF;
    IF bosun.get(b, 'tpm') IS NOT NULL THEN
      SELECT coalesce(sum(value::bigint), 0) INTO used FROM bosun.fields
        WHERE key = b AND field IN (SELECT 'used|' || i FROM generate_series(now / 5000 - 12, now / 5000) i);
      IF used >= bosun.get(b, 'tpm')::bigint THEN RETURN ARRAY['wait', (5000 - now % 5000)::text]; END IF;
    END IF;
    IF bosun.get(b, 'rpm') IS NOT NULL AND a[5] <> '1' THEN
      slot := greatest(now, coalesce(bosun.get(b, 'turn|' || a[4])::bigint, 0));
      PERFORM bosun.put(b, 'turn|' || a[4], (slot + ceil(61200 / bosun.get(b, 'rpm')::numeric))::bigint::text);
      IF slot > now THEN RETURN ARRAY['turn', (slot - now)::text]; END IF;
    END IF;
    PERFORM bosun.add(b, 'requests', 1);
    RETURN ARRAY['go'];
  ELSIF op = 'settle' THEN
    IF bosun.get(b, 'nano') IS NULL
       OR a[8]::bigint <= bosun.get(tasks, 'charged|' || a[2] || '|' || a[3])::bigint THEN
      RETURN ARRAY[]::text[];
    END IF;
    PERFORM bosun.put(tasks, 'charged|' || a[2] || '|' || a[3], a[8]);
    PERFORM bosun.add(b, 'nano', a[5]::bigint), bosun.add(b, 'tokens', a[6]::bigint);
    UPDATE bosun.holds SET nano = nano + a[5]::bigint, tokens = tokens + a[6]::bigint
      WHERE batch = b AND job = a[2] AND word = a[3];
    IF bosun.get(b, 'tpm') IS NOT NULL THEN
      PERFORM bosun.add(b, 'used|' || now / 5000, a[6]::bigint);
      DELETE FROM bosun.fields WHERE key = b AND field IN ('used|' || now / 5000 - 13, 'used|' || now / 5000 - 14);
    END IF;
    IF a[7] <> '' THEN
      slot := greatest(coalesce(bosun.get(b, 'closed|' || a[4])::bigint, 0), now + a[7]::bigint);
      PERFORM bosun.add(b, 'rejected', 1), bosun.put(b, 'closed|' || a[4], slot::text);
    END IF;
  ELSIF op = 'release' THEN
    DELETE FROM bosun.fields WHERE key = tasks AND field = 'charged|' || a[2] || '|' || a[3];
    IF held.word = a[3] THEN
      DELETE FROM bosun.holds WHERE batch = b AND job = a[2];
      PERFORM bosun.put(tasks, 'released|' || a[2], a[3]);
      IF a[4] = '1' THEN
        INSERT INTO bosun.finished (batch, nano, tokens) VALUES (b, held.nano, held.tokens);
        DELETE FROM bosun.finished WHERE batch = b AND id <=
          (SELECT id FROM bosun.finished WHERE batch = b ORDER BY id DESC OFFSET 200 LIMIT 1);
      END IF;
      RETURN ARRAY['1'];
    END IF;
    -- An answer that was lost on its way is asked for again.
    IF bosun.get(tasks, 'released|' || a[2]) = a[3] THEN RETURN ARRAY['1']; END IF;
    IF bosun.get(b, 'holder') IS NOT NULL THEN PERFORM bosun.add(b, 'late', 1); END IF;
    RETURN ARRAY['0'];
  ELSIF op = 'forget' THEN
    DELETE FROM bosun.holds WHERE batch = b AND job = a[2];
    DELETE FROM bosun.fields
      WHERE key = tasks AND field IN ('taken|' || a[2], 'released|' || a[2], 'refused|' || a[2]);
  ELSIF op = 'late' THEN
    IF bosun.get(b, 'holder') IS NOT NULL THEN PERFORM bosun.add(b, 'late', 1); END IF;
  ELSIF op = 'halt' THEN
    IF a[2] = '' THEN DELETE FROM bosun.fields WHERE key = b AND field = 'halt';
    ELSIF bosun.get(b, 'holder') IS NOT NULL THEN PERFORM bosun.put(b, 'halt', a[2]); END IF;
  ELSIF op = 'refuse' THEN
    found := ARRAY[(coalesce(bosun.get(tasks, 'refused|' || a[2]), '{}')::jsonb || jsonb_build_object(a[3], a[4]))::text];
    IF bosun.get(b, 'holder') IS NOT NULL THEN PERFORM bosun.put(tasks, 'refused|' || a[2], found[1]); END IF;
    IF EXISTS (SELECT 1 FROM bosun.fields WHERE key = 'workers' AND (value::jsonb->>'until')::bigint > now
               AND NOT found[1]::jsonb ? field) THEN RETURN ARRAY['some']; END IF;
    RETURN ARRAY['all'] || ARRAY(SELECT value FROM jsonb_each_text(found[1]::jsonb));
  ELSIF op = 'beat' THEN
    PERFORM bosun.put('workers', a[2], jsonb_build_object('seen', now, 'until', now + a[4]::bigint, 'beat', a[3])::text);
  ELSIF op = 'gone' THEN
    DELETE FROM bosun.fields WHERE key = 'workers' AND field = a[2];
  ELSIF op = 'workers' THEN
    DELETE FROM bosun.fields WHERE key = 'workers' AND (value::jsonb->>'until')::bigint < now - 86400000;
    SELECT array_agg(x) INTO found FROM bosun.fields,
      LATERAL unnest(ARRAY[value::jsonb->>'beat', (now - (value::jsonb->>'seen')::bigint)::text]) x
      WHERE key = 'workers' AND (value::jsonb->>'until')::bigint > now;
    RETURN coalesce(found, ARRAY[]::text[]);
  END IF;
  RETURN ARRAY[]::text[];
END $body$;
`;
