/// The operations of a ``RedisStore`` in Redis. Each operation is one Lua script. Redis runs a script atomically, so no
/// other client of Redis sees a partial change.
///
/// The first three arguments of every script are the prefix, the salt (empty if the salt is not known yet) and new
/// random digits. If Redis uses another salt, the script does nothing and returns `{"salt", the salt that Redis uses}`.
enum RedisScript: CaseIterable, Sendable {
  case salt, find, pick, holds
  case put, renew, touch, drop
  case forget, removeIndex, sweep, clear, older, purge
  case list, size

  var source: String { Self.prelude + body }

  private var body: String {
    switch self {
    case .salt: Self.saltBody
    case .find: Self.findBody
    case .pick: Self.pickBody
    case .holds: Self.holdsBody
    case .put: Self.putBody
    case .renew: Self.renewBody
    case .touch: Self.touchBody
    case .drop: Self.dropBody
    case .forget: Self.forgetBody
    case .removeIndex: Self.removeIndexBody
    case .sweep: Self.sweepBody
    case .clear: Self.clearBody
    case .older: Self.olderBody
    case .purge: Self.purgeBody
    case .list: Self.listBody
    case .size: Self.sizeBody
    }
  }
}

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

  /// The Lua code of the script `drop`. It removes one stored response. If the caller passes an encoded head, the
  /// response is removed only if Redis still stores it with this head.
  static let dropBody = #"""
    if not era then return 0 end
    local key, variant = entryKey(ARGV[4]), ARGV[5]
    if not fit(key, 'hash') then return 1 end
    if not ARGV[6] or redis.call('HGET', key, 'h' .. variant) == ARGV[6] then drop(key, variant) end
    return 1
    """#
}

extension RedisScript {
  static let saltBody = #"""
    local known = era and state[2]
    ensure()
    return {'salt', known or redis.call('HGET', home, 'salt')}
    """#

  /// The Lua code of the script `find`. It returns `{"missing"}`, `{"damaged"}`, or `{"found", variant, checksum, body,
  /// variant, head, variant, head, …}`. A variant identifies one response; a checksum is an encoded ``BodyChecksum``.
  /// The first variant, checksum and body belong to the newest response, because the caller usually selects the newest
  /// response. All variants with their heads follow.
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

  /// The Lua code of the script `pick`. It returns the head, the encoded ``BodyChecksum`` and the body of one variant.
  /// If the variant does not exist, it returns an empty list.
  static let pickBody = #"""
    if not era then return {} end
    local entry, variant = ARGV[4], ARGV[5]
    local key = entryKey(entry)
    if not alive(entry, variant, words(key, variant)) then return {} end
    return redis.call('HMGET', key, 'h' .. variant, 'c' .. variant, 'b' .. variant)
    """#

  /// The Lua code of the script `holds`. It returns 1 if an index contains a valid response that is not in the index of
  /// a given account, and otherwise 0. The script checks about a thousand members of the index. If the response of a
  /// member is no longer valid, the script removes the member from the index.
  static let holdsBody = #"""
    if not era then return 0 end
    local index, cursor = indexKey(ARGV[4]), '0'
    local function isOwn(said)
      for place = 5, #ARGV do
        if string.find(said, ' ' .. ARGV[place], 1, true) then return true end
      end
      return false
    end
    if kind(index) ~= 'set' then return 0 end
    for _ = 1, 10 do
      local page = redis.call('SSCAN', index, cursor, 'COUNT', 100)
      cursor = page[1]
      for _, member in ipairs(page[2]) do
        local entry, variant = split(member)
        local said = words(entryKey(entry), variant)
        if not said or not isOwn(said) then
          if alive(entry, variant, said) then return 1 end
          redis.call('SREM', index, member)
        end
      end
      if cursor == '0' then return 0 end
    end
    return 0
    """#
}
