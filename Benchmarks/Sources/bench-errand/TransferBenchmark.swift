import BenchHarness
import Errand
import Foundation

/// The download or upload of one large file, after a small one.
struct TransferBenchmark: Sendable {
  private struct Put: APIRequest {
    let url: String
    let file: URL
    /// The length of the file if the transport must copy the bytes, because it does not know that they are a file.
    let copiedLength: Int64?
    var path: Path { RequestPath(url) }
    var method: HTTPMethod { .put }
    var body: RequestBody? {
      guard let copiedLength else { return .file(file) }
      return .stream(length: copiedLength) { [file] flow in try HTTPBody.file(file).open(flow) }
    }
    var timeouts: Timeouts { Timeouts(idle: .seconds(30), total: .never) }
    typealias Response = Nothing
  }

  private let client: APIClient
  private let benchmark: Benchmark
  private let file: URL

  init(_ client: APIClient, _ benchmark: Benchmark) {
    guard let file = benchmark.file else { Benchmark.fail("bench-errand: a transfer needs a FILE", status: 64) }
    self.client = client
    self.benchmark = benchmark
    self.file = file
  }

  func run() async -> Result<TransferResult, any Error> {
    await Task.detached {
      switch benchmark.mode {
      case "upload", "upload-copied": try await upload()
      case "download-progress": try await download { try await watch($0) }
      default: try await download { Int(try await client.send($0).bytes) }
      }
    }.result
  }

  private func download(
    _ fetch: @escaping @Sendable (FileDownload) async throws -> Int
  ) async throws -> TransferResult {
    let small = FileDownload("/200b", .to(file.appendingPathExtension("small")))
    let big = FileDownload(benchmark.url, .to(file))
    return try await benchmark.transfer(small: { try await fetch(small) }, big: { try await fetch(big) })
  }

  /// Reads every progress report during the download.
  private func watch(_ request: FileDownload) async throws -> Int {
    let download = client.download(request)
    for await progress in download.progress where progress.bytes < 0 { throw CocoaError(.fileReadCorruptFile) }
    return Int(try await download.value().bytes)
  }

  private func upload() async throws -> TransferResult {
    let small = file.deletingLastPathComponent().appending(path: "200b")
    return try await benchmark.transfer(
      small: { try await put(small) },
      big: { try await put(file) })
  }

  private func put(_ file: URL) async throws -> Int {
    let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    let copiedLength = benchmark.mode == "upload-copied" ? Int64(size) : nil
    _ = try await client.send(Put(url: benchmark.url, file: file, copiedLength: copiedLength))
    return size
  }
}
