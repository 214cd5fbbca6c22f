import ErrandCore
import ErrandSupport

/// Writes the body of one range to its offset in the partial file, if the response headers fit the requested range.
final class SegmentSink: BodySink {
  /// The outcome of the exchange.
  struct Report: Sendable {
    /// Why the response is not the requested range of the expected version; nil if it is.
    var mismatch: ResumeMismatch?
    /// The length of the received body in bytes.
    var received: Int64 = 0
    /// Whether the body arrived completely.
    var isWhole = false
  }

  private struct State: Sendable {
    var report = Report()
    var place: Int64 = 0
    var end: Int64 = 0
    var flow = BodyFlow {}
  }

  let ask: RangeAsk
  private let run: DownloadRun
  private let pace: SegmentPace
  private let number: Int
  private let writer: PieceWriter
  private let state = Locked(State())

  init(_ run: DownloadRun, _ pace: SegmentPace, _ ask: RangeAsk, _ number: Int) {
    self.run = run
    self.pace = pace
    self.ask = ask
    self.number = number
    writer = PieceWriter(run.part)
  }

  /// The outcome; complete after ``finish()``.
  var report: Report { state.withLock { $0.report } }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    switch run.decide(head, to: ask) {
    case .append(let range, _):
      run.noteName(in: head.fields)
      do { try run.checkName() } catch {
        pace.fail(error)
        throw error
      }
      state.withLock {
        $0.place = range.lowerBound
        $0.end = range.upperBound
        $0.flow = flow
      }
      writer.begin(at: range.lowerBound)
      pace.add(writer, number)
      return .sink
    case .fresh, .begin: throw noted(.version)
    case .mismatch(let mismatch): throw noted(mismatch)
    case .alreadyWhole, .startOver, .failKeepingPart, .failDroppingPart: return .memory(limit: 1 << 20)
    }
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    if let failure = pace.failure { throw failure }
    let (place, end, flow) = state.withLock { ($0.place, $0.end, $0.flow) }
    let count = Int64(piece.count)
    guard count <= end - place else { throw noted(.excess(expected: end)) }
    do {
      try writer.take(piece)
    } catch {
      pace.fail(error)
      throw error
    }
    state.withLock {
      $0.place += count
      $0.report.received += count
    }
    return pace.took(count, number, flow)
  }

  /// Writes the rest of the gathered bytes after the end of the exchange. Runs on the disk queue.
  func finish() {
    if pace.failure == nil {
      do { _ = try writer.write() } catch { pace.fail(error) }
    }
    pace.remove(number)
  }

  func end() throws {
    if let failure = pace.failure { throw failure }
    state.withLock { $0.report.isWhole = true }
  }

  private func noted(_ mismatch: ResumeMismatch) -> ResumeMismatch {
    state.withLock { $0.report.mismatch = mismatch }
    return mismatch
  }
}
