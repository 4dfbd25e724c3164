/**
 * The ledger on Redis: one hash for each batch, one for workers, one for the names of batches. The clock is the
 * server's. KEYS: the batch, the workers, the batches. ARGV: the operation and what it needs.
 */
export const LEDGER_LUA = `
local batch, workers, batches = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function get(field) return redis.call('HGET', batch, field) end
local function num(field) return tonumber(get(field) or '') end
local function set(field, value) redis.call('HSET', batch, field, value) end
local function add(field, by) return redis.call('HINCRBY', batch, field, by) end
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
  local names = {'name', 'total', 'limit_nano', 'limit_tokens', 'rpm', 'tpm'}
  for i, name in ipairs(names) do
    if ARGV[6 + i] == '' then redis.call('HDEL', batch, name) else set(name, ARGV[6 + i]) end
  end
  redis.call('HSET', batches, ARGV[13], '1')
  redis.call('PEXPIRE', batch, 2592000000)
  return {'granted', tostring(now), redis.call('HGETALL', batch)}
elseif op == 'leave' then
  if get('holder') ~= ARGV[2] then return {} end
  if ARGV[3] == '1' then
    redis.call('DEL', batch) redis.call('HDEL', batches, ARGV[4])
  else set('until', '0') end
elseif op == 'state' then
  return {'', tostring(now), redis.call('HGETALL', batch)}
elseif op == 'batches' then
  return redis.call('HKEYS', batches)
elseif op == 'take' then
  if not get('holder') then return {'0'} end
  set('hold|' .. ARGV[2], ARGV[3])
  return {'1'}
elseif op == 'admit' then
  local model = ARGV[4]
  if get('hold|' .. ARGV[2]) ~= ARGV[3] then return {'lost'} end
  local halt = get('halt')
  if halt then return {'halted', halt} end
  if num('limit_nano') and num('nano') >= num('limit_nano') then return {'empty', 'cost'} end
  if num('limit_tokens') and num('tokens') >= num('limit_tokens') then return {'empty', 'tokens'} end
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
  local model, retry = ARGV[4], tonumber(ARGV[7])
  add('nano', ARGV[5])
  add('tokens', ARGV[6])
  if num('tpm') then
    local window = math.floor(now / 5000)
    add('used|' .. window, ARGV[6])
    redis.call('HDEL', batch, 'used|' .. (window - 13), 'used|' .. (window - 14))
  end
  if retry then
    add('rejected', 1)
    set('closed|' .. model, math.max(num('closed|' .. model) or 0, now + retry))
  end
elseif op == 'release' then
  if get('hold|' .. ARGV[2]) == ARGV[3] then
    redis.call('HDEL', batch, 'hold|' .. ARGV[2])
    return {'1'}
  end
  if get('holder') then add('late', 1) end
  return {'0'}
elseif op == 'late' then
  if get('holder') then add('late', 1) end
elseif op == 'halt' then
  if ARGV[2] == '' then redis.call('HDEL', batch, 'halt') elseif get('holder') then set('halt', ARGV[2]) end
elseif op == 'refuse' then
  local prefix = 'refused|' .. ARGV[2] .. '|'
  if get('holder') then set(prefix .. ARGV[3], ARGV[4]) end
  local all = redis.call('HGETALL', workers)
  local reasons = {'all'}
  for i = 1, #all, 2 do
    local live = cjson.decode(all[i + 1])['until'] > now
    local reason = get(prefix .. all[i])
    if live and not reason then return {'some'} end
    if reason then reasons[#reasons + 1] = reason end
  end
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
