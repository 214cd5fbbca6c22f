import Foundation
import Testing

@testable import ErrandCore
@testable import ErrandHTTP
@testable import ErrandBackground

/// The decisions about background downloads, as tables.
struct BackgroundDecisionTests {
  typealias Phase = BackgroundPhase
  typealias Launch = BackgroundDecision.Launch

  static let fault = BackgroundFault(APIError(.transfer, .file, "It failed."))
  static let cameFile: Phase = .arrived(
    StoredResponse(ResponseHead(status: 200), Samples.url, to: .download, bytes: 3))
  static let placing: Phase = .placing(
    .init(target: RecordedPlace("/d/t", home: "/h"), bytes: 3, checkedBy: []))

  @Test(arguments: [
    (Phase.running, Launch.wait, Launch.miss), (.missed, .wait, .reportLoss),
    (.cancelling, .cancel, .reportCancellation),
    (cameFile, .wait, .miss), (placing, .reportFile, .reportFile),
    (.failed(fault), .reportFailure(fault), .reportFailure(fault)),
  ])
  func `launch decision without a file`(phase: Phase, listed: Launch, unlisted: Launch) {
    #expect(BackgroundDecision.atLaunch(phase, isListed: true, hasFile: false) == listed)
    #expect(BackgroundDecision.atLaunch(phase, isListed: false, hasFile: false) == unlisted)
  }

  @Test(arguments: [(cameFile, Launch.check), (placing, .place)], [true, false])
  func `launch decision with a file`(row: (Phase, Launch), isListed: Bool) {
    #expect(BackgroundDecision.atLaunch(row.0, isListed: isListed, hasFile: true) == row.1)
  }

  @Test(arguments: [
    (Phase?.none, false), (.running, true), (.missed, true), (.cancelling, false), (cameFile, false), (placing, false),
    (.failed(fault), false),
  ])
  func `a file is accepted only once`(phase: Phase?, takes: Bool) {
    #expect(BackgroundDecision.takesFile(phase) == takes)
  }

  private static let lost = TransportFailure(.offline, "There is no network.")

  @Test(arguments: [
    (Phase.running, BackgroundEnd.finished, APIError.Code?.some(.interrupted)),
    (.running, .cancelled("the user closed the app"), .interrupted), (.running, .cancelled(nil), .interrupted),
    (.running, .failed(lost), APIError.Code(rawValue: "offline")), (.missed, .failed(lost), .init(rawValue: "offline")),
    (.cancelling, .finished, .cancelled), (.cancelling, .cancelled(nil), .cancelled),
    (.cancelling, .failed(lost), .cancelled), (cameFile, .finished, nil), (cameFile, .failed(lost), nil),
    (placing, .finished, nil), (.failed(fault), .finished, nil),
  ])
  func `an end is reported only once`(phase: Phase, end: BackgroundEnd, code: APIError.Code?) {
    #expect(BackgroundDecision.failure(phase, end, of: .download)?.code == code)
    #expect(BackgroundDecision.failure(nil, end, of: .download) == nil)
  }

  @Test(arguments: [
    (Phase.running, BackgroundDecision.HandOver.join("a"), BackgroundDecision.HandOver.busy),
    (cameFile, .join("a"), .busy), (placing, .join("a"), .busy), (.missed, .replace("a"), .replace("a")),
    (.cancelling, .busy, .busy), (.failed(fault), .start, .start),
  ])
  func `second download of the same target`(
    phase: Phase, same: BackgroundDecision.HandOver, other: BackgroundDecision.HandOver
  ) {
    let first = Samples.record("a", phase: phase)
    #expect(BackgroundDecision.handOver(Samples.record("b"), among: [first]) == same)
    #expect(BackgroundDecision.handOver(Samples.record("b", request: "other"), among: [first]) == other)
    #expect(BackgroundDecision.handOver(Samples.record("b", target: "/d/u"), among: [first]) == .start)
  }
}

/// Sample records.
enum Samples {
  static let url = HTTPURL(
    unchecked: "https://h.example/film?key=s3cret",
    origin: HTTPURL.Origin(scheme: .https, host: "h.example", port: 443), pathStart: 17, queryStart: 22)

  static func record(
    _ id: String, request: String = "same", target: String = "/d/t", phase: BackgroundPhase = .running,
    digests: [String] = [], replaces: Bool = true
  ) -> BackgroundDownloadState {
    BackgroundDownloadState(
      id: id, tag: nil, request: request, target: RecordedPlace(target, home: "/h"), isNamedByServer: false,
      replaces: replaces, permissions: 0o644, checksum: nil, digests: digests, statuses: [[200, 299]],
      contentTypes: nil, isSecure: true, phase: phase)
  }
}
