extension RedisScript {
  /// The Lua code that every script starts with. ``RedisLayout`` describes the keys and fields.
  static let prelude = #"""
    local prefix, salt, fresh = ARGV[1], ARGV[2], ARGV[3]
    local clock = redis.call('TIME')
    local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
    local home = prefix .. ':state'

    local function text(number) return string.format('%.0f', number) end
    local function kind(key) return redis.call('TYPE', key).ok end

    -- Returns true if a key has the wanted type or does not exist. Deletes a key of another type and returns false.
    local function fit(key, wanted)
      local found = kind(key)
      if found == wanted or found == 'none' then return true end
      redis.call('UNLINK', key)
      return false
    end

    fit(home, 'hash')
    local state = redis.call('HMGET', home, 'era', 'salt', 'seq', 'bound', 'older', 'ages')
    local era, seq = state[1], tonumber(state[3] or '')
    local bound, older = tonumber(state[4] or ''), tonumber(state[5] or '')
    local function digits(value, count) return value and #value == count and string.match(value, '^%x+$') end
    local function counts(number) return number and number >= 0 and number < 2 ^ 53 end
    if not (digits(era, 16) and digits(state[2], 64) and counts(seq) and counts(bound) and older) then era = false end
    if era and salt ~= '' and salt ~= state[2] then return {'salt', state[2]} end

    -- Starts a new era. All stored entries become invalid, because the names of their keys contain the old era.
    local function begin(words)
      era, seq, bound, older = string.sub(fresh, 1, 16), 0, 0, -9223372036854775808
      state[6] = false
      redis.call('UNLINK', home)
      redis.call('HSET', home, 'era', era, 'salt', words, 'seq', '0', 'bound', '0', 'older', '-9223372036854775808')
    end
    local function ensure()
      if not era then begin(salt ~= '' and salt or string.sub(fresh, 17)) end
    end

    local function entryKey(entry) return prefix .. ':' .. era .. ':v:' .. entry end
    local function indexKey(name) return prefix .. ':' .. era .. ':i:' .. name end
    local function cutKey(name) return prefix .. ':' .. era .. ':r:' .. name end
    local function split(member) return string.sub(member, 1, 64), string.sub(member, 65) end

    -- Calls `each` with the number and the time of every earlier removal by age that still counts, as texts.
    local function eachAge(each)
      for number, time in string.gmatch(state[6] or '', '(%d+) (%-?%d+)') do each(number, time) end
    end

    -- Returns whether a removal by age has removed the response with this number and time.
    local function tooOld(number, time)
      local found = number <= bound and time < older
      eachAge(function(last, limit) found = found or (number <= tonumber(last) and time < tonumber(limit)) end)
      return found
    end

    -- Returns the time of a valid response; false if the response is expired or removed; nil if its words (its
    -- metadata) are damaged.
    local function alive(entry, variant, words)
      local by, number, time, names = string.match(words or '', '^(%d+) (%d+) (%-?%d+) ([%l:%x ]+)$')
      if not by then return nil end
      if tonumber(by) <= now then return false end
      if tooOld(tonumber(number), tonumber(time)) then return false end
      for name in string.gmatch(names, '%S+') do
        if redis.pcall('SISMEMBER', indexKey(name), entry .. variant) ~= 1 then return false end
      end
      return tonumber(time)
    end

    local function drop(key, variant)
      redis.call('HDEL', key, 'm' .. variant, 'h' .. variant, 'c' .. variant, 'b' .. variant, 'u' .. variant)
    end

    -- Returns the words (metadata) of one response; nil if the response has none.
    local function words(key, variant)
      local found = redis.pcall('HGET', key, 'm' .. variant)
      if type(found) == 'string' then return found end
    end

    -- Returns every variant (stored response) in a hash, with its words (metadata).
    local function variants(key)
      local all = {}
      for _, field in ipairs(redis.call('HKEYS', key)) do
        if string.sub(field, 1, 1) == 'm' then
          all[#all + 1] = {string.sub(field, 2), redis.call('HGET', key, field)}
        end
      end
      return all
    end

    local function extend(key, span)
      if redis.call('PTTL', key) < span then redis.call('PEXPIRE', key, text(span)) end
    end

    """#

  /// The Lua code that the scripts `put` and `renew` share. It adds a response to its indexes.
  static let filing = #"""
    -- Checks two random members of an index, and removes members whose response no longer exists. So an index stays
    -- short.
    local function trim(index)
      for _, member in ipairs(redis.call('SRANDMEMBER', index, 2)) do
        local entry, variant = split(member)
        if redis.pcall('HEXISTS', entryKey(entry), 'm' .. variant) ~= 1 then redis.call('SREM', index, member) end
      end
    end

    -- Writes the words (metadata) of a response and adds the response to its indexes. An index expires later than its
    -- responses.
    local function file(key, entry, variant, time, span, names)
      seq = seq + 1
      redis.call('HSET', home, 'seq', text(seq))
      local said = text(now + span) .. ' ' .. text(seq) .. ' ' .. time .. ' ' .. names
      redis.call('HSET', key, 'm' .. variant, said, 'u' .. variant, text(now))
      extend(key, span)
      for name in string.gmatch(names, '%S+') do
        local index = indexKey(name)
        fit(index, 'set')
        redis.call('SADD', index, entry .. variant)
        extend(index, span + 60000)
        trim(index)
      end
    end

    """#
}
