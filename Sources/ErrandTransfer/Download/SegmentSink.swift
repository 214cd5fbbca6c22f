import ErrandCore
import ErrandSupport

/// Writes the body of one range to its offset in the partial file, if the response headers fit the requested range.
final class SegmentSink: BodySink {
  /// The outcome of the HTTP exchange whose response body this sink received.
  struct Report: Sendable {
    /// The reason why the response is not the requested range of the expected version; nil if there is no such reason.
    var mismatch: ResumeMismatch?
    /// The number of bytes of the response body that have arrived.
    var received: Int64 = 0
    /// Whether the response body arrived completely.
    var isWhole = false
  }

  private struct State: Sendable {
    var report = Report()
    var place: Int64 = 0
    var end: Int64 = 0
    var flow = BodyFlow {}
    /// Whether the body of a response was accepted.
    var hasBody = false
  }

  let requested: RequestedRange
  private let run: DownloadRun
  private let progress: SegmentProgress
  private let number: Int
  private let writer: PieceWriter
  private let state = Locked(State())

  init(_ run: DownloadRun, _ progress: SegmentProgress, _ requested: RequestedRange, _ number: Int) {
    self.run = run
    self.progress = progress
    self.requested = requested
    self.number = number
    writer = PieceWriter(run.part)
  }

  /// The outcome of the HTTP exchange. It is complete after ``finish()`` has returned.
  var report: Report { state.withLock { $0.report } }

  /// - Throws: `BodyBegunTwice` if the body of another response was accepted before, as ``DownloadSink/begin(_:flow:)``.
  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    if state.withLock({ $0.hasBody }) { throw BodyBegunTwice() }
    switch run.decide(head, to: requested) {
    case .append(let range, _):
      run.noteName(in: head.fields)
      do { try run.checkName() } catch {
        progress.fail(error)
        throw error
      }
      state.withLock {
        $0.place = range.lowerBound
        $0.end = range.upperBound
        $0.flow = flow
        $0.hasBody = true
      }
      writer.begin(at: range.lowerBound)
      progress.add(writer, number)
      return .sink
    case .fresh, .begin: throw noted(.version)
    case .mismatch(let mismatch): throw noted(mismatch)
    case .alreadyWhole, .startOver, .failKeepingPart, .failDroppingPart: return .memory(limit: 1 << 20)
    }
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    if let failure = progress.failure { throw failure }
    let (place, end, flow) = state.withLock { ($0.place, $0.end, $0.flow) }
    let count = Int64(piece.count)
    guard count <= end - place else { throw noted(.excess(expected: end)) }
    do {
      try writer.take(piece)
    } catch {
      progress.fail(error)
      throw error
    }
    state.withLock {
      $0.place += count
      $0.report.received += count
    }
    return progress.took(count, number, flow)
  }

  /// Writes the remaining buffered bytes after the end of the HTTP exchange. Runs on the disk queue.
  func finish() {
    if progress.failure == nil {
      do { _ = try writer.write() } catch { progress.fail(error) }
    }
    progress.remove(number)
  }

  func end() throws {
    if let failure = progress.failure { throw failure }
    state.withLock { $0.report.isWhole = true }
  }

  private func noted(_ mismatch: ResumeMismatch) -> ResumeMismatch {
    state.withLock { $0.report.mismatch = mismatch }
    return mismatch
  }
}
