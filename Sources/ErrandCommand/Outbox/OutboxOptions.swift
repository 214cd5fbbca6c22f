import ErrandOutbox

struct OutboxOptions: Equatable {
  enum Task: Equatable {
    case list([OutboxState])
    case show(OutboxEntry.ID)
    /// Queue dead letters again.
    case resend([OutboxEntry.ID])
    case discard([OutboxEntry.ID])
  }

  let folder: String
  let task: Task

  init(_ words: [String]) throws(UsageError) {
    guard let verb = words.first, ["list", "show", "resend", "discard"].contains(verb) else {
      throw UsageError(
        words.first.map { "unknown task “outbox \($0)”; use list, show, resend or discard" }
          ?? "a task is missing: list, show, resend or discard")
    }
    guard words.count > 1, !words[1].isEmpty else {
      throw UsageError("the folder is missing; write it after the task, as in “errand outbox \(verb) DIR”")
    }
    guard words[1].utf8.first != UInt8(ascii: "-") else {
      throw UsageError("the folder must come first; write ./\(words[1]) for a folder of this name")
    }
    folder = words[1]
    task = try Self.task(verb, Array(words.dropFirst(2)))
  }

  private static func task(_ verb: String, _ rest: [String]) throws(UsageError) -> Task {
    switch verb {
    case "list":
      if let word = rest.first(where: { $0 != "--all" }) {
        throw UsageError("“\(word)” is unknown; “list” takes only --all")
      }
      return .list(OutboxState.allCases.filter { !rest.isEmpty || $0 != .delivered && $0 != .cancelled })
    case "show":
      let ids = try ids(rest)
      guard let id = ids.first, ids.count == 1 else { throw UsageError("“show” needs the number of one entry") }
      return .show(id)
    default:
      let ids = try ids(rest)
      guard !ids.isEmpty else { throw UsageError("“\(verb)” needs the numbers of entries; “list” prints them") }
      return verb == "resend" ? .resend(ids) : .discard(ids)
    }
  }

  private static func ids(_ words: [String]) throws(UsageError) -> [OutboxEntry.ID] {
    var ids: [OutboxEntry.ID] = []
    for word in words {
      guard let number = Int64(word), number > 0 else {
        throw UsageError("“\(word)” is not the number of an entry; “list” prints the numbers")
      }
      ids.append(OutboxEntry.ID(rawValue: number))
    }
    return ids
  }
}

extension HelpText {
  static let outbox = #"""
    usage: errand outbox list    DIR [--all]
           errand outbox show    DIR NUMBER
           errand outbox resend  DIR NUMBER …
           errand outbox discard DIR NUMBER …

    Lists the changes that wait in the folder of an outbox (ErrandOutbox), and decides about those that
    need a decision. It creates no folder, and sends nothing: the program does that.

      list                one line for each entry that waits or needs a decision: its number, state, age
                          and attempts, its lane, type and account, and the reason for its state
        --all               also entries that were delivered or cancelled in the last day
      show                the stored request as JSON; the facts of the entry go to standard error
      resend              queue entries again that were rejected or parked, have expired, or whose fate
                          is unknown; the program sends them when it looks next
      discard             remove such entries, or entries that were never sent

    states
      queued, sending     the entry waits, or is being sent
      rejected            the server rejected it, or no attempt is left
      parked              it cannot be sent without a decision
      unknown             the server may have carried it out; it is not sent again by itself
      expired             its time has passed before it was sent

    An entry with the reason “damaged” cannot be read, because a part of the database is damaged. Keep
    a copy of the folder first, then discard the entry. Its request is lost.

    exit status
      0  success                                        66  no entry has the number
      1  any other failure                              72  the folder is missing or contains no outbox
     64  wrong arguments                                75  another process uses the outbox
     65  show: the stored request is damaged

    """#
}
