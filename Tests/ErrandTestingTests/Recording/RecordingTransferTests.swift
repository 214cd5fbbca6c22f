import ErrandHTTP
#if os(Linux)
  import Errand
  import ErrandCurl
  import ErrandTesting
  import Foundation
  import Testing

  /// Tests recordings of downloads and uploads.
  struct RecordingTransferTests {
    private struct GetFilm: APIRequest {
      let url: String
      let file: URL
      var path: Path { RequestPath(stringLiteral: url) }
      var download: Download? {
        var download = Download.to(file)
        download.takeUps = 0
        return download
      }
      typealias Response = DownloadedFile
    }

    private struct PutFile: APIRequest {
      let file: URL
      var path: Path { "/file" }
      var method: HTTPMethod { .put }
      var body: RequestBody? { .file(file, type: "text/plain") }
      typealias Response = String
    }

    private func client(_ url: String, over transport: any Transport) -> APIClient {
      var configuration = ClientConfiguration(baseURL: url)
      configuration.transport = .own(transport)
      return APIClient(configuration)
    }

    /// Sends two requests. The first response is truncated, and the second resumes the download.
    private func fetch(_ url: String, into file: URL, over transport: any Transport) async throws -> [Int64] {
      let client = client("", over: transport)
      let broken = await client.outcome(of: GetFilm(url: url, file: file))
      #expect(broken.error?.transportKind == .truncated)
      let whole = try await client.send(GetFilm(url: url, file: file))
      return [whole.keptBytes, whole.fetchedBytes]
    }

    @Test func `resumed download is replayed`() async throws {
      let place = RecordingPlace()
      let resource = RangeResource(size: 300_000, seed: 1)
      let server = try RangeServer { number in
        RangeBehaviour(resource) { if number == 1 { $0.fault = .cut(after: 100_000) } }
      }
      let folder = URL(fileURLWithPath: place.folder)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let (first, second) = (folder.appending(path: "1.bin"), folder.appending(path: "2.bin"))
      let recorder = RecordingTransport(CurlTransport())
      #expect(try await fetch(server.url, into: first, over: recorder) == [100_000, 200_000])
      try recorder.save(to: place.path)
      server.stop()
      let replay = ReplayTransport(try Recording(contentsOf: place.path), afterLast: .refused)
      #expect(try await fetch(server.url, into: second, over: replay) == [100_000, 200_000])
      #expect(try resource.has(Data(contentsOf: second), at: 0))
      #expect(try Data(contentsOf: second) == Data(contentsOf: first))
      #expect(replay.requests.map { $0.fields["Range"] } == [nil, "bytes=100000-"])
    }

    @Test func `sent file is recorded`() async throws {
      let place = RecordingPlace()
      try place.write(String(repeating: "line\n", count: 20_000))
      let file = URL(fileURLWithPath: place.path)
      let server = try LoopbackServer { request in .ok("\(request.bodyLength)") }
      let recorder = RecordingTransport(CurlTransport())
      #expect(try await client(server.url, over: recorder).send(PutFile(file: file)) == "100000")
      #expect(server.requests.first?.headers["Content-Length"] == "100000")
      let recording = try recorder.recording()
      #expect(try recording.exchanges[0].request.body?.data == place.bytes)
      server.stop()
      let replay = client(server.url, over: ReplayTransport(recording))
      #expect(try await replay.send(PutFile(file: file)) == "100000")
      try place.write("another file")
      #expect(await replay.outcome(of: PutFile(file: file)).error?.transportKind == .notRecorded)
    }
  }
#endif
