import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Expired links, fresh links and redirects.
struct DownloadLinkTests {
  @Test func `expired redirect is requested again`() async throws {
    let fixture = try DownloadFixture(signedUses: 1) { number, behaviour in
      if number < 3 { behaviour.fault = .cut(after: 800_000) }
    }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.fetchedBytes == 3_000_000)
    let paths = fixture.server.requests.map(\.path)
    #expect(paths == ["/file.bin", "/1/file.bin", "/file.bin", "/2/file.bin", "/file.bin", "/3/file.bin"])
    #expect(fixture.ranges == [nil, "bytes=800000-", "bytes=1600000-"])
  }

  @Test func `next call starts at the first URL`() async throws {
    let fixture = try DownloadFixture(signedUses: 1)
    await fixture.begin()
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
    #expect(fixture.server.requests.map(\.path).suffix(2) == ["/file.bin", "/2/file.bin"])
  }

  @Test func `403 after a redirect is retried`() async throws {
    let fixture = try DownloadFixture(signedUses: 2)
    await fixture.begin()
    fixture.answer { number, behaviour in if number == 2 { behaviour.fault = .status(403) } }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
    #expect(fixture.ranges == [nil, "bytes=1000000-", "bytes=1000000-"])
  }

  @Test func `permanent 403 is an error`() async throws {
    let fixture = try DownloadFixture(signedUses: 9)
    await fixture.begin()
    fixture.answer { $1.fault = .status(403) }
    let outcome = await fixture.send()
    #expect(outcome.error?.status == 403)
    #expect(fixture.ranges == [nil, "bytes=1000000-", "bytes=1000000-"])
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
  }

  /// Two servers with one file; the link to the first one has expired.
  @Test(arguments: [401, 403, 404, 410]) func `fresh URL continues the download`(status: Int) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.fault = .status(status) }
    let other = try RangeServer(RangeBehaviour(fixture.resource))
    let asked = Locked<[Int]>([])
    let file = try await fixture.send {
      $0.freshURL = { response in
        asked.withLock { $0.append(response.status) }
        return other.url
      }
    }.result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
    #expect(asked.withLock { $0 } == [status])
    #expect(other.requests.map(\.range) == ["bytes=1000000-"])
  }

  @Test func `fresh URL is requested once`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.fault = .status(403) }
    let asked = Locked(0)
    let outcome = await fixture.send { [url = fixture.server.url] in
      $0.freshURL = { _ in
        asked.withLock { $0 += 1 }
        return url
      }
    }
    #expect(outcome.error?.status == 403)
    #expect(asked.withLock { $0 } == 1)
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
  }

  /// The link expires whenever the connection is lost. At the end, the server accepts the last link, or none.
  @Test(arguments: [true, false]) func `each expired link is replaced`(isAccepted: Bool) async throws {
    let faults: [RangeBehaviour.Fault] = [
      .status(403), .cut(after: 800_000), .status(403), .cut(after: 800_000), .status(403),
    ]
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.fault = number <= faults.count ? faults[number - 1] : isAccepted ? nil : .status(403)
    }
    let asked = Locked(0)
    let outcome = await fixture.send { [url = fixture.server.url] in
      $0.freshURL = { _ in
        asked.withLock { $0 += 1 }
        return url
      }
    }
    #expect(outcome.error?.status == (isAccepted ? nil : 403) && fixture.isRight() == isAccepted)
    #expect(asked.withLock { $0 } == 3)
    let starts: [String?] = [nil, "bytes=800000-", "bytes=1600000-"]
    #expect(fixture.ranges == starts.flatMap { [$0, $0] })
  }

  @Test(arguments: ["no url", "ftp://127.0.0.1/x", ""]) func `invalid fresh URL is an error`(url: String) async throws {
    let fixture = try DownloadFixture { $1.fault = .status(403) }
    let outcome = await fixture.send { $0.freshURL = { _ in url } }
    #expect(outcome.error?.code == .invalidURL)
    #expect(fixture.names == [])
  }

  @Test func `failing freshURL keeps the part file`() async throws {
    struct NoLink: Error {}
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.fault = .status(403) }
    let outcome = await fixture.send { $0.freshURL = { _ in throw NoLink() } }
    let error = try #require(outcome.error)
    #expect(error.stage == .transfer && error.cause is NoLink)
    #expect(error.description.contains("freshURL") && error.description.contains("NoLink"))
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
    fixture.answer()
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
  }

  @Test func `freshURL may throw an API error`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.fault = .status(403) }
    let outcome = await fixture.send {
      $0.freshURL = { _ in
        try await APIClient(baseURL: "").send(FileDownload("no url", .to(URL(filePath: "/x")))).url.path
      }
    }
    // The error of the call states its own reason.
    #expect((outcome.error?.cause as? APIError ?? outcome.error)?.code == .invalidURL)
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
  }

  /// The closure waits until its task is cancelled.
  @Test(arguments: [403, 404], [true, false])
  func `cancel ends the wait for a fresh URL`(status: Int, hasHandle: Bool) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.fault = .status(status) }
    let latch = Latch()
    let request = fixture.request { [url = fixture.server.url] in
      $0.freshURL = { _ in
        try await latch.wait()
        return url
      }
    }
    let error: APIError?
    if hasHandle {
      let download = fixture.client.download(request)
      await latch.reached()
      // A closure without cancellation would block the cancel for ever.
      let release = Task {
        _ = await eventually { download.phase == .ended }
        latch.open()
      }
      await download.cancel()
      await release.value
      error = await #expect(throws: APIError.self) { try await download.value() }
    } else {
      let task = Task { await fixture.client.outcome(of: request) }
      await latch.reached()
      task.cancel()
      error = await task.value.error
    }
    #expect(error?.isCancelled == true && error?.code == .cancelled)
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"] && fixture.ranges.count == 2)
    fixture.answer()
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
  }

  @Test func `deadline ends the wait for a fresh URL`() async throws {
    let latch = Latch()
    let clock = ManualClock()
    let fixture = try DownloadFixture(configuration: DownloadFixture.configuration(clock)) { $1.fault = .status(403) }
    let request = fixture.request {
      $0.freshURL = { _ in
        try await latch.wait()
        return ""
      }
    }
    let outcome = Locked<Outcome<DownloadedFile>?>(nil)
    fixture.client.start(outcomeOf: request, on: .inPlace, options: .deadline(.seconds(5))) { ended in
      outcome.withLock { $0 = ended }
    }
    await latch.reached()
    clock.advance(by: .seconds(6))
    #expect(await eventually { outcome.withLock { $0?.error?.code } == .deadline })
    latch.open()
  }

  /// A different file with the same length and tag: its fresh link must not be combined with the existing part file.
  @Test(arguments: [1, 3]) func `fresh URL of another file starts again`(parallel: Int) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.fault = .status(403) }
    let film = RangeResource(size: DownloadFixture.size, seed: 2)
    let tag = fixture.resource.entityTag
    let other = try RangeServer(
      RangeBehaviour(film) {
        $0.validators = .none
        $0.ifRange = .ignored
        $0.fields["ETag"] = tag
      })
    var request = fixture.request {
      $0.parallel = parallel
      $0.freshURL = { _ in other.url }
    }
    request.path = RequestPath(stringLiteral: fixture.server.url + "?film=2")
    let file = try await fixture.client.send(request)
    #expect(fixture.isRight(film) && file.keptBytes == 0)
    #expect(other.requests.map(\.range) == [nil])
  }

  @Test func `download resumes at the fresh URL`() async throws {
    // The fresh link breaks off. The rest comes from the fresh link too, not from the expired one.
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.fault = .status(403) }
    let resource = fixture.resource
    let other = try RangeServer { number in
      RangeBehaviour(resource) { if number == 1 { $0.fault = .cut(after: 500_000) } }
    }
    let file = try await fixture.send { $0.freshURL = { _ in other.url } }.result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
    #expect(other.requests.map(\.range) == ["bytes=1000000-", "bytes=1500000-"])
  }

  @Test func `resource identifies files across links`() async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
    }
    var request = fixture.request {
      $0.resource = "film 7"
      $0.takeUps = 0
    }
    request.path = RequestPath(stringLiteral: fixture.server.url + "?signature=1")
    _ = await fixture.client.outcome(of: request)
    request.path = RequestPath(stringLiteral: fixture.server.url + "?signature=2")
    let file = try await fixture.client.send(request)
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
  }

  @Test func `resource name is not a URL`() async throws {
    let fixture = try DownloadFixture { $1.fault = .cut(after: 1_000_000) }
    _ = await fixture.send {
      $0.resource = "film 7"
      $0.takeUps = 0
    }
    let left = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    let error = #expect(throws: APIError.self) { try left.request() }
    #expect(error?.code == .invalidURL && error?.description.contains("film.bin") == true)
  }

  @Test func `different URL starts again`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    var request = fixture.request()
    request.path = RequestPath(stringLiteral: fixture.server.url + "?version=2")
    let file = try await fixture.client.send(request)
    #expect(fixture.isRight() && file.keptBytes == 0)
  }
}
