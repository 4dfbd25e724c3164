/**
 * The ledger on Redis: one hash for each batch, one for who holds its tasks (a word, and what it has spent), one for
 * what else is known of them, a list of what finished ones have spent, one hash for workers and one for the names of
 * batches. The clock is the server's. ARGV: the operation and what it needs.
 */
export const LEDGER_LUA = `
local batch, holds, tasks, finished, workers, batches = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function get(field) return redis.call('HGET', batch, field) end
local function num(field) return tonumber(get(field) or '') end
local function set(field, value) redis.call('HSET', batch, field, value) end
local function add(field, by) return redis.call('HINCRBY', batch, field, by) end
local function hold(job)
  local text = redis.call('HGET', holds, job)
  if not text then return nil end
  local word, nano, tokens = string.match(text, '^(%S+) (%d+) (%d+)$')
  return word, tonumber(nano), tonumber(tokens)
end
local function empty()
  if num('limit_nano') and num('nano') >= num('limit_nano') then return 'cost' end
  if num('limit_tokens') and num('tokens') >= num('limit_tokens') then return 'tokens' end
end

-- What a task may need: its limit, or what nine of ten finished ones needed, once there are five.
local function need(name, at)
  local limit = num('need_' .. name)
  local ends = redis.call('LRANGE', finished, 0, -1)
  if #ends < 5 then return limit end
  local spent = {}
  for i, text in ipairs(ends) do
    local nano, tokens = string.match(text, '^(%d+) (%d+)$')
    spent[i] = tonumber(at == 1 and nano or tokens)
  end
  table.sort(spent)
  local usual = spent[math.ceil(#spent * 0.9)]
  return limit and math.min(usual, limit) or usual
end

-- Whether what others may still need leaves enough for one more. Where nobody runs, it does.
local function room(own)
  for at, name in ipairs({'nano', 'tokens'}) do
    local limit = num('limit_' .. name)
    local each = limit and need(name, at)
    if each then
      local reserved, running = 0, 0
      local all = redis.call('HGETALL', holds)
      for i = 1, #all, 2 do
        if all[i] ~= own then
          local nano, tokens = string.match(all[i + 1], '^%S+ (%d+) (%d+)$')
          reserved = reserved + math.max(0, each - tonumber(at == 1 and nano or tokens))
          running = running + 1
        end
      end
      if running > 0 and num(name) + reserved + each > limit then return false end
    end
  end
  return true
end
local op = ARGV[1]

if op == 'claim' then
  local holder, place, ms = ARGV[2], ARGV[3], tonumber(ARGV[4])
  local other = get('holder')
  if other and other ~= holder and get('place') ~= place and (num('until') or 0) > now then
    return {'held', get('place')}
  end
  set('holder', holder) set('place', place) set('until', now + ms)
  if not get('nano') then set('nano', ARGV[5]) set('tokens', ARGV[6]) end
  if tonumber(ARGV[5]) > num('nano') then set('nano', ARGV[5]) end
  local names = {'name', 'total', 'limit_nano', 'limit_tokens', 'rpm', 'tpm', 'need_nano', 'need_tokens'}
  for i, name in ipairs(names) do
    if ARGV[6 + i] == '' then redis.call('HDEL', batch, name) else set(name, ARGV[6 + i]) end
  end
  redis.call('HSET', batches, ARGV[15], '1')
  for _, key in ipairs({batch, holds, tasks, finished}) do redis.call('PEXPIRE', key, 2592000000) end
  return {'granted', tostring(now), redis.call('HGETALL', batch)}
elseif op == 'leave' then
  if get('holder') ~= ARGV[2] then return {} end
  if ARGV[3] == '1' then
    redis.call('DEL', batch, holds, tasks, finished) redis.call('HDEL', batches, ARGV[4])
  else set('until', '0') end
elseif op == 'state' then
  return {'', tostring(now), redis.call('HGETALL', batch)}
elseif op == 'batches' then
  return redis.call('HKEYS', batches)
elseif op == 'take' then
  local job, word = ARGV[2], ARGV[3]
  if not get('holder') then return {'gone'} end
  if hold(job) ~= word then
    if get('halt') or empty() then return {'halted'} end
    if not room(job) then return {'full'} end
    redis.call('HSET', holds, job, word .. ' 0 0')
    redis.call('HINCRBY', tasks, 'taken|' .. job, 1)
  end
  return {'begun', redis.call('HGET', tasks, 'taken|' .. job)}
elseif op == 'admit' then
  local model = ARGV[4]
  if hold(ARGV[2]) ~= ARGV[3] then return {'lost'} end
  local halt = get('halt')
  if halt then return {'halted', halt} end
  if empty() then return {'empty', empty()} end
  local closed = num('closed|' .. model) or 0
  if closed > now then return {'wait', closed - now} end
  local tpm = num('tpm')
  if tpm then
    local window, used = math.floor(now / 5000), 0
    for i = window - 12, window do used = used + (num('used|' .. i) or 0) end
    if used >= tpm then return {'wait', 5000 - now % 5000} end
  end
  local rpm = num('rpm')
  if rpm and ARGV[5] ~= '1' then
    local turn = math.max(now, num('turn|' .. model) or 0)
    set('turn|' .. model, turn + math.ceil(61200 / rpm))
    if turn > now then return {'turn', turn - now} end
  end
  add('requests', 1)
  return {'go'}
elseif op == 'settle' then
  local model, nano, tokens, retry = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
  local charged = 'charged|' .. ARGV[2] .. '|' .. ARGV[3]
  local isNew = tonumber(ARGV[8]) > tonumber(redis.call('HGET', tasks, charged) or '0')
  if get('nano') and isNew then
    redis.call('HSET', tasks, charged, ARGV[8])
    add('nano', nano) add('tokens', tokens)
    local word, before, used = hold(ARGV[2])
    if word == ARGV[3] then
      local spent = string.format('%s %.0f %.0f', word, before + tonumber(nano), used + tonumber(tokens))
      redis.call('HSET', holds, ARGV[2], spent)
    end
    if num('tpm') then
      local window = math.floor(now / 5000)
      add('used|' .. window, tokens)
      redis.call('HDEL', batch, 'used|' .. (window - 13), 'used|' .. (window - 14))
    end
    if retry then
      add('rejected', 1)
      set('closed|' .. model, math.max(num('closed|' .. model) or 0, now + retry))
    end
  end
elseif op == 'release' then
  local job, word = ARGV[2], ARGV[3]
  local held, nano, tokens = hold(job)
  redis.call('HDEL', tasks, 'charged|' .. job .. '|' .. word)
  if held == word then
    redis.call('HDEL', holds, job)
    redis.call('HSET', tasks, 'released|' .. job, word)
    if ARGV[4] == '1' then
      redis.call('RPUSH', finished, string.format('%.0f %.0f', nano, tokens))
      redis.call('LTRIM', finished, -200, -1)
    end
    return {'1'}
  end
  -- An answer that was lost on its way is asked for again.
  if redis.call('HGET', tasks, 'released|' .. job) == word then return {'1'} end
  if get('holder') then add('late', 1) end
  return {'0'}
elseif op == 'forget' then
  local job = ARGV[2]
  redis.call('HDEL', holds, job)
  redis.call('HDEL', tasks, 'taken|' .. job, 'released|' .. job, 'refused|' .. job)
elseif op == 'late' then
  if get('holder') then add('late', 1) end
elseif op == 'halt' then
  if ARGV[2] == '' then redis.call('HDEL', batch, 'halt') elseif get('holder') then set('halt', ARGV[2]) end
elseif op == 'refuse' then
  local field, known = 'refused|' .. ARGV[2], {}
  local text = redis.call('HGET', tasks, field)
  if text then known = cjson.decode(text) end
  known[ARGV[3]] = ARGV[4]
  if get('holder') then redis.call('HSET', tasks, field, cjson.encode(known)) end
  local all = redis.call('HGETALL', workers)
  for i = 1, #all, 2 do
    if cjson.decode(all[i + 1])['until'] > now and not known[all[i]] then return {'some'} end
  end
  local reasons = {'all'}
  for _, reason in pairs(known) do reasons[#reasons + 1] = reason end
  return reasons
elseif op == 'beat' then
  redis.call('HSET', workers, ARGV[2], cjson.encode({seen = now, ['until'] = now + tonumber(ARGV[4]), beat = ARGV[3]}))
elseif op == 'gone' then
  redis.call('HDEL', workers, ARGV[2])
elseif op == 'workers' then
  local all = redis.call('HGETALL', workers)
  local found = {}
  for i = 1, #all, 2 do
    local one = cjson.decode(all[i + 1])
    if one['until'] > now then
      found[#found + 1] = one['beat'] found[#found + 1] = tostring(now - one['seen'])
    elseif one['until'] < now - 86400000 then redis.call('HDEL', workers, all[i]) end
  end
  return found
end
return {}
`;
