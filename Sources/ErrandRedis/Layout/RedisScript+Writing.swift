extension RedisScript {
  static let putBody =
    filing + #"""
      local entry, variant, time, span, names = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8]
      ensure()
      local key = entryKey(entry)
      fit(key, 'hash')
      redis.call('HSET', key, 'h' .. variant, ARGV[9], 'c' .. variant, ARGV[10], 'b' .. variant, ARGV[11])
      file(key, entry, variant, time, span, names)
      local all = {}
      for _, pair in ipairs(variants(key)) do
        if pair[1] ~= variant then all[#all + 1] = {pair[1], alive(entry, pair[1], pair[2]) or -math.huge} end
      end
      table.sort(all, function(one, other) return one[2] > other[2] end)
      for place = tonumber(ARGV[12]), #all do drop(key, all[place][1]) end
      return 1
      """#

  static let renewBody =
    filing + #"""
      if not era then return 0 end
      local entry, variant, time, span, names = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8]
      local key = entryKey(entry)
      local said = words(key, variant)
      if not alive(entry, variant, said) then return 0 end
      if string.match(said, '^%d+ %d+ (%-?%d+) ') ~= ARGV[10] then return 0 end
      redis.call('HSET', key, 'h' .. variant, ARGV[9])
      file(key, entry, variant, time, span, names)
      return 1
      """#

  static let touchBody = #"""
    if not era then return 0 end
    for place = 4, #ARGV - 2, 3 do
      local key, variant = entryKey(ARGV[place]), ARGV[place + 1]
      if words(key, variant) then
        local last = tonumber(redis.call('HGET', key, 'u' .. variant) or '') or 0
        if last < tonumber(ARGV[place + 2]) then redis.call('HSET', key, 'u' .. variant, ARGV[place + 2]) end
      end
    end
    return 1
    """#

  /// Removes one variant; with a head, only while it is still the one.
  static let dropBody = #"""
    if not era then return 0 end
    local key, variant = entryKey(ARGV[4]), ARGV[5]
    if not fit(key, 'hash') then return 1 end
    if not ARGV[6] or redis.call('HGET', key, 'h' .. variant) == ARGV[6] then drop(key, variant) end
    return 1
    """#
}
