#if os(Linux)
  import ErrandHTTP

  /// A command that another thread sends to the event loop.
  enum CurlCommand: Sendable {
    /// Start the transfer.
    case submit(CurlTransfer)
    /// End the transfer at once because its call was stopped.
    case abort(CurlTransfer)
    /// Continue the response body because its sink accepts bytes again.
    case resume(CurlTransfer)
    /// Continue the request body because its source may have bytes again.
    case resumeUpload(CurlTransfer)
    /// Run the job of a task that prefers the loop's thread.
    case run(UnownedJob, CurlExecutor)
  }

  /// The commands for the event loop, and the state that decides when its thread wakes. Other threads share it with the
  /// loop's thread.
  struct CurlInbox: Sendable {
    private var commands: [CurlCommand] = []
    var loop = LoopState()

    mutating func push(_ command: CurlCommand) -> LoopState.WakeDecision {
      let decision = loop.addCommand()
      if decision != .refuse { commands.append(command) }
      return decision
    }

    /// Moves the commands of the inbox into `taken`, which must be empty.
    mutating func take(_ taken: inout [CurlCommand]) {
      swap(&commands, &taken)
      loop.wakeUp()
    }

    /// Decides what the event loop does after its work.
    mutating func decideSleep(
      now: MonotonicInstant, latest: MonotonicInstant?, isBusy: Bool
    ) -> LoopState.SleepDecision {
      loop.decideSleep(now: now, latest: latest, hasCommands: !commands.isEmpty, isBusy: isBusy)
    }

    /// Handles a failed start of the loop's thread; see ``LoopState/abandon()``. Also returns the commands, which the
    /// caller must refuse.
    mutating func abandon() -> (commands: [CurlCommand], fallbackTime: MonotonicInstant?) {
      let left = commands
      commands = []
      return (left, loop.abandon())
    }
  }
#endif
