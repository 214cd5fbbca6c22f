import Errand
import ErrandCurl
import ErrandSupport
import ErrandTesting
import Foundation

/// Sends calls of every kind and checks that each response matches its path.
final class MixedCaller: Sendable {
  let client: APIClient
  let transport: CurlTransport
  private let tally: MixedTally
  private let folder: URL
  private let names = Locked(0)

  /// Returns the valid token, most of the time.
  private struct Tokens: RefreshingProvider {
    let server: MoodyServer

    var account: String? { "ada" }
    func credential(for account: String?) async throws -> Credential? { .bearer("0") }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential { .bearer("\(server.token)") }
  }

  private struct Page: APIRequest {
    typealias Response = String
    var path: Path
    var method = HTTPMethod.get
    var cache = CachePolicy.none
    var retries: RetryPolicy = .inherited
    var credential = RequestCredential.none
  }

  init(_ server: MoodyServer, _ tally: MixedTally) throws {
    self.tally = tally
    transport = CurlTransport()
    folder = .temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.transport = .own(transport)
    configuration.timeouts.total = .milliseconds(1_500)
    configuration.timeouts.idle = .milliseconds(100)
    configuration.credentials = Tokens(server: server)
    client = APIClient(configuration)
  }

  /// Removes the downloaded files.
  func clean() { try? FileManager.default.removeItem(at: folder) }

  private func nextName() -> Int {
    names.withLock { names in
      names += 1
      return names
    }
  }

  /// One call, or a few calls, of a random kind.
  func call(_ random: inout SeededNumbers) async {
    let few = Int.random(in: 0..<8, using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0: await page(Page(path: "/plain/\(nextName())"))
    case 1: await page(Page(path: "/post/\(nextName())", method: .post))
    case 2: await page(Page(path: "/joined/\(few)"))
    case 3: await page(Page(path: "/cached/\(few)", cache: .lifetime(.milliseconds(200))))
    case 4: await page(Page(path: "/again/\(nextName())", retries: Self.patient))
    case 5: await page(Page(path: "/secret/\(few)", credential: .inherited))
    case 6: await batch()
    case 7: await download()
    default: await cancelled(after: Int.random(in: 0..<5_000, using: &random))
    }
  }

  private static let patient = RetryPolicy(attempts: 4, firstDelay: .milliseconds(1), busyDelay: .milliseconds(1))

  private func page(_ page: Page) async {
    let path = "\(page.path)"
    let outcome = await client.outcome(of: page)
    tally.note(path, outcome.result) { $0 == "right \(path)" }
  }

  private func batch() async {
    let pages = (0..<3).map { _ in Page(path: "/batch/\(nextName())", retries: Self.patient) }
    let outcomes = await client.outcomes(of: pages)
    for (page, outcome) in zip(pages, outcomes) {
      tally.note("\(page.path)", outcome) { $0 == "right \(page.path)" }
    }
  }

  private func download() async {
    let file = folder.appending(path: "\(nextName())", directoryHint: .notDirectory)
    var request = FileDownload("/file/\(file.lastPathComponent)", .to(file))
    request.credential = .none
    tally.note("download", await client.outcome(of: request).result) { _ in
      let expected = (0..<MoodyServer.fileSize).map { LoopbackAnswer.generatedByte(at: $0) }
      return (try? Data(contentsOf: file)).map { $0.elementsEqual(expected) } ?? false
    }
    try? FileManager.default.removeItem(at: file)
  }

  private func cancelled(after turns: Int) async {
    let path = "/plain/\(nextName())"
    let ended = Latch()
    let call = client.start(outcomeOf: Page(path: RequestPath(path)), on: .inPlace) { [tally] outcome in
      tally.note(path, outcome.result) { $0 == "right \(path)" }
      ended.open()
    }
    for _ in 0..<turns { await Task.yield() }
    call.cancel()
    await ended.waitStubbornly()
  }
}
