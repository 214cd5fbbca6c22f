import Errand
import ErrandBackground
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// A background upload whose process dies, or whose disk fails, at any call to the file system since the first launch.
struct BackgroundUploadCrashTests {
  private static let calls = 1...60

  /// The events of one launch of the app.
  private struct Life {
    var id: String?
    var endings: [BackgroundUpload.Ending] = []
  }

  /// Starts an upload, delivers its response and waits for all events.
  private func live(_ fixture: BackgroundFixture, _ files: HookedFiles, fromFile: Bool) async throws -> Life {
    let told = Recorded<BackgroundUpload.Ending>()
    let uploads = fixture.launchUploads(files: files) { told.append($0) }
    let body: RequestBody = fromFile ? .file(fixture.place("film.bin")) : .text("film")
    defer { fixture.session.endProcess() }
    guard let upload = try? await uploads.start(SendFilm(body: body)) else { return Life() }
    try fixture.session.answer(upload.id, .json("{\"id\":7}"))
    fixture.session.report(.allReported)
    await uploads.eventsHandled()
    return Life(id: upload.id, endings: told.all)
  }

  /// The next launch with a working disk. It starts nothing.
  private func liveOn(_ fixture: BackgroundFixture) async -> [BackgroundUpload.Ending] {
    let told = Recorded<BackgroundUpload.Ending>()
    let uploads = fixture.launchUploads { told.append($0) }
    _ = await uploads.running
    fixture.session.report(.allReported)
    await uploads.eventsHandled()
    return told.all
  }

  private func fixture() throws -> BackgroundFixture {
    let fixture = try BackgroundFixture()
    _ = try fixture.put("film", "film.bin")
    return fixture
  }

  @Test(arguments: calls, [true, false]) func `crash at any call leaves one ending`(turn: Int, fromFile: Bool)
    async throws
  {
    let fixture = try fixture()
    let dying = HookedFiles { number, _, _ in number >= turn ? 5 : nil }
    let before = try await live(fixture, dying, fromFile: fromFile)
    if turn == Self.calls.upperBound { #expect(dying.calls.count < turn, "the range of calls is too short") }
    let after = await liveOn(fixture)
    #expect(after.count <= 1 && before.endings.count <= 1 && fixture.session.orders.count <= 1, "at call \(turn)")
    let ending = after.first ?? before.endings.first
    #expect(before.id == nil || before.id == ending?.id, "at call \(turn)")
    if let error = ending?.result.failure { #expect(error.code == .interrupted, "at call \(turn): \(error)") }
    if case .success(let answer)? = ending?.result { #expect(answer.body == Data("{\"id\":7}".utf8)) }
    #expect(fixture.desked.isEmpty && fixture.text("film.bin") == "film", "at call \(turn)")
  }

  @Test(arguments: calls, [true, false]) func `every failure is reported once`(turn: Int, fromFile: Bool) async throws {
    let fixture = try fixture()
    let faulty = HookedFiles(failing: turn, 5)
    let life = try await live(fixture, faulty, fromFile: fromFile)
    #expect(faulty.openCount == 0)
    #expect(life.endings.count == (life.id == nil ? 0 : 1), "at call \(turn)")
    if life.id == nil { #expect(fixture.session.orders.isEmpty && fixture.desked.isEmpty, "at call \(turn)") }
    // If the record could not be removed, the ending is delivered again.
    let after = await liveOn(fixture)
    #expect(after.allSatisfy { $0.id == life.id } && after.count <= 1 && fixture.desked.isEmpty, "at call \(turn)")
  }
}
