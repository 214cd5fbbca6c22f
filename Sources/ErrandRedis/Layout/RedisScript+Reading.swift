extension RedisScript {
  static let saltBody = #"""
    local known = era and state[2]
    ensure()
    return {'salt', known or redis.call('HGET', home, 'salt')}
    """#

  /// `{"missing"}`, `{"damaged"}`, or `{"found", variant, check, body, variant, head, variant, head, …}`: the newest
  /// one's body, which is most often the one, and all heads.
  static let findBody = #"""
    if not era then return {'missing'} end
    local entry = ARGV[4]
    local key = entryKey(entry)
    if kind(key) == 'none' then return {'missing'} end
    if not fit(key, 'hash') then return {'damaged'} end
    local all, reply = variants(key), {'found', false, false, false}
    local latest, damaged = nil, #all == 0
    for _, pair in ipairs(all) do
      local variant = pair[1]
      local time = alive(entry, variant, pair[2])
      local parts = redis.call('HMGET', key, 'h' .. variant, 'c' .. variant)
      if time and parts[1] and parts[2] and redis.call('HEXISTS', key, 'b' .. variant) == 1 then
        reply[#reply + 1] = variant
        reply[#reply + 1] = parts[1]
        if not latest or time > latest then
          latest, reply[2], reply[3] = time, variant, parts[2]
        end
      else
        damaged = damaged or time ~= false
        drop(key, variant)
      end
    end
    if #all == 0 then redis.call('UNLINK', key) end
    if not latest then return {damaged and 'damaged' or 'missing'} end
    reply[4] = redis.call('HGET', key, 'b' .. reply[2])
    return reply
    """#

  /// Head, check and body of one variant, or nothing.
  static let pickBody = #"""
    if not era then return {} end
    local entry, variant = ARGV[4], ARGV[5]
    local key = entryKey(entry)
    if not alive(entry, variant, words(key, variant)) then return {} end
    return redis.call('HMGET', key, 'h' .. variant, 'c' .. variant, 'b' .. variant)
    """#

  /// 1 if an index names a valid response under another key than the given one. Names of responses that are gone are
  /// removed on the way. The script looks at about a thousand names.
  static let holdsBody = #"""
    if not era then return 0 end
    local index, cursor = indexKey(ARGV[4]), '0'
    if kind(index) ~= 'set' then return 0 end
    for _ = 1, 10 do
      local page = redis.call('SSCAN', index, cursor, 'COUNT', 100)
      cursor = page[1]
      for _, member in ipairs(page[2]) do
        local entry, variant = split(member)
        if entry ~= ARGV[5] then
          if alive(entry, variant, words(entryKey(entry), variant)) then return 1 end
          redis.call('SREM', index, member)
        end
      end
      if cursor == '0' then return 0 end
    end
    return 0
    """#
}
