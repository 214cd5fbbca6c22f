extension RedisScript {
  static let forgetBody = #"""
    if not era then return 0 end
    redis.call('UNLINK', entryKey(ARGV[4]))
    return 1
    """#

  /// The Lua code of the script `removeIndex`. It removes an index by renaming its set. After the renaming, all
  /// responses of the index are invalid for every application server.
  static let removeIndexBody = #"""
    if not era then return 0 end
    local index, aside = indexKey(ARGV[4]), cutKey(ARGV[4])
    if kind(index) == 'none' or not fit(index, 'set') then return 0 end
    fit(aside, 'set')
    if redis.call('EXISTS', aside) == 1 then
      local left = redis.call('PTTL', index)
      redis.call('SUNIONSTORE', aside, aside, index)
      if left > 0 then redis.call('PEXPIRE', aside, text(left)) end
      redis.call('UNLINK', index)
    else
      redis.call('RENAME', index, aside)
    end
    return 1
    """#

  /// The Lua code of the script `sweep`. It deletes up to a hundred responses of a removed index, except responses that
  /// were stored again after the removal. Returns the number of members that were checked; 0 means that no members are
  /// left.
  static let sweepBody = #"""
    if not era then return 0 end
    local aside = cutKey(ARGV[4])
    if not fit(aside, 'set') then return 0 end
    local members = redis.call('SPOP', aside, 100)
    for _, member in ipairs(members) do
      local entry, variant = split(member)
      local key = entryKey(entry)
      local said = words(key, variant)
      if said and not alive(entry, variant, said) then drop(key, variant) end
    end
    return #members
    """#

  static let clearBody = #"""
    local kept = era and state[2]
    if not kept then kept = salt ~= '' and salt or string.sub(fresh, 17) end
    begin(kept)
    return 1
    """#

  /// The Lua code of the script `older`. It removes the responses that were received before a time. A removal with an
  /// earlier time must not widen an earlier removal to the responses that were stored after it. So the earlier removals
  /// with a later time are kept separately. If they are more than sixteen, they and the new one become one removal,
  /// with the latest of their times.
  static let olderBody = #"""
    if not era then return 0 end
    local kept, latest = {}, ARGV[4]
    local function keep(last, limit)
      if last ~= '0' and tonumber(limit) > tonumber(ARGV[4]) then kept[#kept + 1] = {last, limit} end
    end
    eachAge(keep)
    keep(state[4], state[5])
    if #kept > 16 then
      -- The first removal that is kept has the latest time.
      kept, latest = {}, kept[1][2]
    end
    for place, pair in ipairs(kept) do kept[place] = pair[1] .. ' ' .. pair[2] end
    redis.call('HSET', home, 'bound', text(seq), 'older', latest, 'ages', table.concat(kept, ' '))
    return 1
    """#

  /// The Lua code of the script `purge`. It deletes invalid entries from one page of a scan of all keys. Returns the
  /// cursor of the next page; "0" means that the scan is finished.
  static let purgeBody = #"""
    local page = redis.call('SCAN', ARGV[4], 'MATCH', ARGV[5], 'COUNT', 200)
    for _, key in ipairs(page[2]) do
      local rest = string.sub(key, #prefix + 2)
      local owner = string.match(rest, '^(%x+):[veir]:')
      if owner and #owner == 16 then
        if owner ~= era then
          redis.call('UNLINK', key)
        elseif string.sub(rest, 17, 19) == ':v:' and fit(key, 'hash') then
          for _, pair in ipairs(variants(key)) do
            if not alive(string.sub(rest, 20), pair[1], pair[2]) then drop(key, pair[1]) end
          end
        end
      end
    end
    return page[1]
    """#

  /// The Lua code that the scripts `list` and `size` share. It scans one page of keys and calls `each` with every valid
  /// entry.
  private static let walking = #"""
    local reply = {'0', redis.call('DBSIZE')}
    local function walk(each)
      if not era then return reply end
      local page = redis.call('SCAN', ARGV[4], 'MATCH', ARGV[5], 'COUNT', 100)
      local start = entryKey('')
      reply[1] = page[1]
      for _, key in ipairs(page[2]) do
        if string.sub(key, 1, #start) == start and kind(key) == 'hash' then
          local entry = string.sub(key, #start + 1)
          for _, pair in ipairs(variants(key)) do
            if alive(entry, pair[1], pair[2]) then each(key, entry, pair[1]) end
          end
        end
      end
      return reply
    end
    local function add(value) reply[#reply + 1] = value or '' end

    """#

  /// The Lua code of the script `list`. It returns `{cursor, number of keys in the database, head, checksum, last use,
  /// …}`. The last three values repeat for each entry. A checksum is an encoded ``BodyChecksum``.
  static let listBody =
    walking + #"""
      return walk(function(key, entry, variant)
        local parts = redis.call('HMGET', key, 'h' .. variant, 'c' .. variant, 'u' .. variant)
        add(parts[1]) add(parts[2]) add(parts[3])
      end)
      """#

  /// The Lua code of the script `size`. It returns `{cursor, number of keys in the database, entry and variant, bytes,
  /// …}`. The last two values repeat for each entry.
  static let sizeBody =
    walking + #"""
      return walk(function(key, entry, variant)
        local bytes = #entry + 5 * #variant
        for _, part in ipairs({'m', 'h', 'c', 'b', 'u'}) do
          bytes = bytes + redis.call('HSTRLEN', key, part .. variant)
        end
        add(entry .. variant) add(bytes)
      end)
      """#
}
