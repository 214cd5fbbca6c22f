import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// A download that is controlled by its handle.
struct DownloadCallTests {
  private static let held = 1_000_000

  /// The first request stalls until the gate opens.
  private func stalled(_ gate: Gate, requests: Int = 1) throws -> DownloadFixture {
    try DownloadFixture { number, behaviour in
      if number <= requests { behaviour.fault = .stall(after: Self.held, until: gate) }
    }
  }

  @Test func `value is the downloaded file`() async throws {
    let fixture = try DownloadFixture()
    let download = fixture.client.download(fixture.request())
    #expect(try await download.value().bytes == Int64(DownloadFixture.size))
    #expect(download.phase == .ended)
    #expect(fixture.isRight())
  }

  @Test func `pause keeps the part file`() async throws {
    let gate = Gate()
    let fixture = try stalled(gate)
    let download = fixture.client.download(fixture.request())
    try await fixture.server.served(atLeast: Self.held)
    await download.pause()
    #expect(download.phase == .paused)
    #expect(await eventually { fixture.client.running.isEmpty })
    let kept = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    #expect(kept.isResumable && kept.total == Int64(DownloadFixture.size))
    download.resume()
    let file = try await download.value()
    #expect(file.keptBytes == kept.bytes)
    #expect(fixture.server.requests.map(\.range) == [nil, "bytes=\(kept.bytes)-"])
    #expect(fixture.isRight())
    gate.open()
  }

  @Test func `beginning again after a pause is a restart`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.validators = .none
      if number <= 2 { behaviour.fault = .stall(after: number == 1 ? Self.held : 1_000, until: gate) }
    }
    let download = fixture.client.download(fixture.request())
    var reports = download.progress.makeAsyncIterator()
    while let report = await reports.next(), report.bytes <= 1_000 {}
    await download.pause()
    download.resume()
    var report = await reports.next()
    while let earlier = report, earlier.bytes > 1_000 { report = await reports.next() }
    #expect(report?.isRestart == true)
    gate.open()
    #expect(try await download.value().keptBytes == 0)
    #expect(fixture.isRight())
  }

  @Test func `download may pause and resume repeatedly`() async throws {
    let gate = Gate()
    let fixture = try stalled(gate, requests: 3)
    let download = fixture.client.download(fixture.request())
    for round in 1...3 {
      try await fixture.server.received(round)
      await download.pause()
      await download.pause()
      download.resume()
      download.resume()
    }
    _ = try await download.value()
    #expect(fixture.server.requests.count <= 4)
    #expect(fixture.isRight())
    gate.open()
  }

  @Test func `waiting task may be cancelled`() async throws {
    let gate = Gate()
    let fixture = try stalled(gate)
    let download = fixture.client.download(fixture.request())
    try await fixture.server.served(atLeast: Self.held)
    await download.pause()
    let waiting = Task { try await download.value() }
    waiting.cancel()
    let error = await #expect(throws: APIError.self) { try await waiting.value }
    #expect(error?.isCancelled == true && error?.message.contains("continues") == true)
    #expect(download.phase == .paused)
    download.resume()
    _ = try await download.value()
    #expect(fixture.isRight())
    gate.open()
  }

  @Test(arguments: [true, false]) func `cancel keeps or removes the part file`(keeps: Bool) async throws {
    let gate = Gate()
    let fixture = try stalled(gate)
    let download = fixture.client.download(fixture.request())
    #expect(await eventually { fixture.partBytes > 0 })
    await download.cancel(keepingPart: keeps)
    #expect(download.phase == .ended)
    #expect(fixture.names == (keeps ? ["film.bin.part", "film.bin.part.meta"] : []))
    await #expect { try await download.value() } throws: { ($0 as? APIError)?.isCancelled == true }
    download.resume()
    #expect(download.phase == .ended)
    gate.open()
  }

  @Test func `cancel keeps another request's part file`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.fault = .status(503) }
    let other = fixture.client.download(FileDownload(fixture.server.url + "?other", .to(fixture.file)))
    await #expect(throws: APIError.self) { try await other.value() }
    await other.cancel(keepingPart: false)
    #expect(try fixture.keptBytes == Self.held)
    let own = fixture.client.download(fixture.request())
    await #expect(throws: APIError.self) { try await own.value() }
    await own.cancel(keepingPart: false)
    #expect(fixture.names.isEmpty)
  }

  /// The cancelled download belongs to ada. Then bo logs in and starts the same download.
  @Test(arguments: [true, false]) func `cancel keeps another account's part file`(wasSent: Bool) async throws {
    let (accounts, gate) = (CredentialStore(), Gate())
    for name in ["bo", "ada"] { try await accounts.login(name, with: AccountCredential(.bearer(name))) }
    var configuration = ClientConfiguration(baseURL: "")
    configuration.credentials = accounts
    let fixture = try DownloadFixture(configuration: configuration) {
      $1.fault = wasSent ? .status(503) : .stall(after: 1_000, until: gate)
    }
    let queue = DownloadQueue(fixture.client, width: 1)
    // The other download keeps the cancelled one in the queue.
    let other = wasSent ? nil : queue.add(FileDownload(fixture.server.url, .to(fixture.place("other"))))
    if !wasSent { try await gate.reached() }
    let download = queue.add(fixture.request())
    if wasSent { await #expect(throws: APIError.self) { try await download.value() } }
    try await accounts.use("bo")
    await fixture.begin()
    #expect(try fixture.keptBytes == Self.held)
    await download.cancel(keepingPart: false)
    #expect(try fixture.keptBytes == Self.held)
    gate.open()
    await other?.cancel()
  }

  /// Sets a field that differs in each call, so that no part file is resumed.
  private struct Changing: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      var request = request
      request.fields.append(HTTPField("X-Nonce", UUID().uuidString))
      return try await next(request)
    }
  }

  @Test func `cancel removes a changing request's part file`() async throws {
    let gate = Gate()
    var configuration = ClientConfiguration(baseURL: "")
    configuration.interceptors.calls.append(Changing())
    let fixture = try DownloadFixture(configuration: configuration) {
      $1.fault = .stall(after: Self.held, until: gate)
    }
    let download = fixture.client.download(fixture.request())
    #expect(await eventually { fixture.partBytes > 0 })
    await download.cancel(keepingPart: false)
    #expect(fixture.names.isEmpty)
    gate.open()
  }

  @Test func `paused download may be cancelled`() async throws {
    let gate = Gate()
    let fixture = try stalled(gate)
    let download = fixture.client.download(fixture.request())
    #expect(await eventually { fixture.partBytes > 0 })
    await download.pause()
    await download.cancel(keepingPart: false)
    #expect(fixture.names.isEmpty)
    await #expect(throws: APIError.self) { try await download.value() }
    gate.open()
  }

  /// Between the end of the call and the end of the download, the download is paused for a moment.
  @Test func `cancelled download is not resumed`() async throws {
    let folder = try UploadFolder()
    let never = Latch()
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    let transport = ScriptedTransport { _ in
      try await never.wait()
      return .text("")
    }
    configuration.transport = .own(transport)
    let client = APIClient(configuration)
    for round in 0..<rounds * 6 {
      let file = folder.url.appending(path: "\(round)")
      let download = client.download(FileDownload("/film", .to(file)))
      await never.reached(round + 1)
      let resuming = Task {
        while !Task.isCancelled {
          download.resume()
          await Task.yield()
        }
      }
      await download.cancel(keepingPart: round.isMultiple(of: 2))
      resuming.cancel()
      await resuming.value
      let isOver = await eventually { client.running.isEmpty }
      #expect(isOver && download.phase == .ended && transport.requests.count == round + 1)
      await #expect { try await download.value() } throws: { ($0 as? APIError)?.isCancelled == true }
      if !isOver { return }
    }
  }

  @Test func `finished download stays finished`() async throws {
    let fixture = try DownloadFixture()
    let download = fixture.client.download(fixture.request())
    _ = try await download.value()
    await download.pause()
    await download.cancel(keepingPart: false)
    #expect(try await download.value().url == fixture.file)
    #expect(fixture.isRight())
  }

  @Test func `failure ends the download`() async throws {
    let fixture = try DownloadFixture { _, behaviour in behaviour.fault = .status(503) }
    let download = fixture.client.download(fixture.request())
    await #expect { try await download.value() } throws: { ($0 as? APIError)?.response?.status == 503 }
    #expect(fixture.names.isEmpty)
  }

  @Test func `progress grows to the whole file`() async throws {
    let fixture = try DownloadFixture()
    let download = fixture.client.download(fixture.request())
    var last: TransferProgress?
    for await progress in download.progress {
      #expect(progress.bytes >= last?.bytes ?? 0)
      last = progress
    }
    #expect(last?.bytes == Int64(DownloadFixture.size))
    #expect(last?.fraction == 1)
  }

  @Test func `progress includes kept bytes`() async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: Self.held) }
    }
    _ = await fixture.send { $0.takeUps = 0 }
    let download = fixture.client.download(fixture.request())
    var reports: [TransferProgress] = []
    for await progress in download.progress { reports.append(progress) }
    #expect(reports.allSatisfy { $0.bytes >= Self.held })
    #expect(reports.last?.bytes == Int64(DownloadFixture.size))
  }

  // MARK: - Interrupted downloads

  @Test func `interrupted downloads are listed and resumed`() async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: Self.held) }
    }
    _ = await fixture.send { $0.takeUps = 0 }
    let found = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    #expect(found.file == fixture.file && found.bytes == Int64(Self.held))
    let file = try await fixture.client.send(found.request())
    #expect(file.keptBytes == Int64(Self.held))
    #expect(fixture.isRight())
    #expect(try InterruptedDownload.all(in: fixture.folder).isEmpty)
  }

  /// A kill may happen before any byte is kept. The part file and its reserved space are listed anyway.
  @Test(arguments: [1, 4]) func `new download is listed`(parallel: Int) async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { $1.fault = .stall(after: 1_000, until: gate) }
    let download = fixture.client.download(fixture.request { $0.parallel = parallel })
    try await gate.reached()
    #expect(await eventually { (try? InterruptedDownload.all(in: fixture.folder))?.count == 1 })
    let found = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    #expect(found.file == fixture.file && found.resource == fixture.server.url && found.bytes <= 1_000)
    gate.open()
    _ = try await download.value()
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
  }

  @Test func `interrupted download may be removed`() async throws {
    let fixture = try DownloadFixture { _, behaviour in behaviour.fault = .cut(after: Self.held) }
    _ = await fixture.send { $0.takeUps = 0 }
    for found in try InterruptedDownload.all(in: fixture.folder) { try await found.remove() }
    #expect(fixture.names.isEmpty)
  }

  @Test func `missing folder is an error`() {
    let folder = URL(filePath: "/nowhere/\(UUID().uuidString)")
    #expect { try InterruptedDownload.all(in: folder) } throws: { ($0 as? APIError)?.code == .file }
  }
}
