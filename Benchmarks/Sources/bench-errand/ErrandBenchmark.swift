import BenchHarness
import Errand
import ErrandCurl
import ErrandEngine
import ErrandHTTP
import Foundation
import Synchronization

/// bench-errand MODE URL COUNT: this library, and only Foundation's decoder.
///
///     parallel          `send` with `Response = Data`, 64 in flight
///     parallel-tls      the same over TLS; parallel-h2: over HTTP/2 and TLS; parallel-10k, parallel-1m: larger bodies
///     parallel-on-loop  the same with the tasks on the transport's own thread; also sequential-on-loop, typed-on-loop
///     sequential        the same, sequentially, from a detached task
///     sequential-main   the same, from the main actor
///     core              a finished request sent by the transport alone, 64 in flight
///     typed             the whole pipeline: URL and 3 headers, status and content type checks, 200 B of JSON into a
///                       struct, 64 in flight
///     typed-10k         10 KiB of JSON into structs by JSONDecoder, sequentially, from a detached task
///     typed-10k-own     the same by this library's decoder
///     alone             like parallel, each request with a separate URL, so that no exchange can be shared
///     alone-task        the same, each in a separate task, as a shared exchange needs it
///     line              `send` over a transport that responds immediately: the cost of the pipeline alone
///     line-typed        the same for the typed request
///     batch-100         a hundred at once as one batch; sends-100: the same as separate calls
///     line-batch-100    the same over a transport that responds immediately; also line-sends-100
///     hit               a typed call served from the memory cache with its decoded value; also hit-main
///     hit-floor         a URL by URLComponents and a lookup behind a lock: the minimum cost of a hit
///     disk-find         1 KiB read from the disk store; disk-put: stored, written in the background; disk-send: a
///                       whole call
///     sqlite-read       1 KiB by a prepared statement of SQLite; file-read: from a separate file
///     outbox-add        a request added to an outbox; outbox-commit: a commit of plain SQLite, as durable
///     outbox-open       an outbox with COUNT waiting requests, opened and closed again
///     held              the memory of COUNT calls that wait for a server at the same time; also over TLS: held-tls, and
///                       over HTTP/2: held-h2, held-h2-cleartext; by the transport alone: held-alone and so on
///     latency           the waiting times of `send`, 64 in flight; also latency-tls, latency-h2
///     beside            the same while a large response body arrives and is dropped; also beside-tls, beside-h2;
///                       beside-file: while it goes into a file; beside-slow: into a sink that pauses for 10 ms after
///                       each MiB
///     bare-hop          a switch to another thread and back; bare-task: a task that suspends once, 64 in flight
///     decode-200b       only this library's decoder; URL is a file
///     decode-10k        only JSONDecoder; URL is a file
///
/// bench-errand MODE URL BYTES FILE: one file of that many bytes.
///
///     download           into the file; download-progress: with a reader of progress
///     upload             from the file; upload-copied: from a stream, whose bytes the transport copies
///
/// Equal calls have separate exchanges, except in modes that end in `-joining`, such as alone-joining, in which they
/// may share one. In modes that end in `-guarded`, such as typed-guarded, calls send an account's credential, may be
/// retried, and pass a breaker and a rate limit that delays no call. In modes that end in `-recorded`, such as
/// line-recorded, the client records its calls and their decisions, without bodies.
///
/// `ERRAND_TRANSPORT` names the transport, `curl` or `engine`; without it the client uses the platform's.
/// `ERRAND_NGINX_CA` names the file with the authority of the server.
@main struct ErrandBenchmark {
  @MainActor static func main() async {
    let benchmark = Benchmark(client: "errand")
    let client = APIClient(configuration(benchmark))
    if benchmark.isGuarded { await Guards.set(on: client) }
    switch benchmark.plainMode {
    case "parallel", "parallel-tls", "parallel-h2", "parallel-10k", "parallel-1m":
      let request = Bytes(url: benchmark.url)
      benchmark.finish(await detached { try await benchmark.parallel { try await client.send(request).count } })
    case "alone":
      benchmark.finish(await alone(benchmark) { try await client.send($0).count })
    case "alone-task":
      benchmark.finish(
        await alone(benchmark) { request in try await Task.immediate { try await client.send(request).count }.value })
    case "parallel-on-loop":
      let request = Bytes(url: benchmark.url)
      benchmark.finish(
        await onLoop(benchmark) { client in try await benchmark.parallel { try await client.send(request).count } })
    case "typed-on-loop":
      benchmark.finish(
        await onLoop(benchmark) { client in
          try await benchmark.parallel { try await client.send(TypedAccount(id: 7)).name.utf8.count }
        })
    case "sequential-on-loop":
      let request = Bytes(url: benchmark.url)
      benchmark.finish(
        await onLoop(benchmark) { client in try await benchmark.sequential { try await client.send(request).count } })
    case "sequential":
      let request = Bytes(url: benchmark.url)
      benchmark.finish(await detached { try await benchmark.sequential { try await client.send(request).count } })
    case "sequential-main":
      let request = Bytes(url: benchmark.url)
      benchmark.finish(await onMain { try await benchmark.sequential { try await client.send(request).count } })
    case "core":
      benchmark.finish(await detached { try await core(benchmark) })
    case "line", "line-typed":
      benchmark.finish(await detached { try await line(benchmark) })
    case "typed":
      benchmark.finish(
        await detached { try await benchmark.parallel { try await client.send(TypedAccount(id: 7)).name.utf8.count } })
    case "typed-10k", "typed-10k-own":
      if benchmark.plainMode == "typed-10k" { client.configure { $0.formats.jsonDecoding = .standard } }
      let request = TypedPeople(url: benchmark.url)
      benchmark.finish(await detached { try await benchmark.sequential { try await client.send(request).count } })
    case "batch-100", "line-batch-100":
      let client = benchmark.plainMode.hasPrefix("line") ? instantClient(benchmark) : client
      benchmark.finish(await detached { try await GroupBenchmark(client, url: benchmark.url).batch(benchmark) })
    case "sends-100", "line-sends-100":
      let client = benchmark.plainMode.hasPrefix("line") ? instantClient(benchmark) : client
      benchmark.finish(await detached { try await GroupBenchmark(client, url: benchmark.url).sends(benchmark) })
    case "hit":
      benchmark.finish(await detached { try await HitBenchmark.hits(benchmark) })
    case "hit-main":
      benchmark.finish(await onMain { try await HitBenchmark.hits(benchmark) })
    case "hit-floor":
      benchmark.finish(await detached { try await HitBenchmark.floor(benchmark) })
    case "disk-find":
      benchmark.finish(await detached { try await StoreBenchmark().find(benchmark) })
    case "disk-put":
      benchmark.finish(await detached { try await StoreBenchmark().put(benchmark) })
    case "disk-send":
      benchmark.finish(await detached { try await StoreBenchmark().send(benchmark) })
    case "sqlite-read":
      benchmark.finish(await detached { try await StoreBenchmark().bare(benchmark) })
    case "outbox-add":
      benchmark.finish(await detached { try await OutboxBenchmark().add(benchmark) })
    case "outbox-open":
      benchmark.finish(await detached { try await OutboxBenchmark().open(benchmark) })
    case "outbox-commit":
      benchmark.finish(await detached { try await OutboxBenchmark().commit(benchmark) })
    case "bare-hop":
      benchmark.finish(await detached { try await FloorBenchmark.hop(benchmark) })
    case "bare-task":
      benchmark.finish(await detached { try await FloorBenchmark.task(benchmark) })
    case "file-read":
      benchmark.finish(await detached { try await StoreBenchmark().files(benchmark) })
    case "download", "download-progress", "upload", "upload-copied":
      benchmark.finish(await TransferBenchmark(client, benchmark).run())
    case "decode-200b", "decode-10k":
      benchmark.finish(await detached { try await decode(benchmark) })
    case let mode where mode.hasPrefix("held"):
      benchmark.finish(await detached { try await held(benchmark) })
    case let mode where mode.hasPrefix("latency") || mode.hasPrefix("beside"):
      let transport = transport(benchmark).transport
      client.configure { $0.transport = .own(transport) }
      benchmark.finish(await detached { try await LatencyBenchmark(benchmark, client, transport).run() })
    default:
      Benchmark.fail("bench-errand: unknown mode \(benchmark.mode)", status: 3)
    }
  }

  /// The transport that was asked for by its name; nil for the platform's.
  private static let transportName = ProcessInfo.processInfo.environment["ERRAND_TRANSPORT"]

  /// A transport of that name, and its thread as a place for tasks.
  private static func transport(_ benchmark: Benchmark) -> (transport: any Transport, executor: any TaskExecutor) {
    let file = ProcessInfo.processInfo.environment["ERRAND_NGINX_CA"]
    let authority = file.map { CertificateAuthority.file(path: $0) } ?? .system
    let version: HTTPVersionPolicy =
      benchmark.mode.contains("-h2-cleartext")
      ? .http2PriorKnowledge : benchmark.mode.contains("-h2") ? .http2 : .http1Only
    do {
      if transportName == EngineTransport.name {
        var settings = EngineConfiguration()
        settings.certificateAuthority = authority
        settings.httpVersion = version
        let transport = try EngineTransport(settings)
        return (transport, transport.executor)
      }
      var settings = CurlConfiguration()
      settings.certificateAuthority = authority
      settings.httpVersion = version
      let transport = try CurlTransport(settings)
      return (transport, transport.executor)
    } catch {
      Benchmark.fail("bench-errand: \(error)", status: 3)
    }
  }

  private static func configuration(_ benchmark: Benchmark) -> ClientConfiguration {
    var configuration = ClientConfiguration(baseURL: server(of: benchmark.url))
    configuration.overlap.joining = benchmark.joins ? .safe : .never
    if benchmark.isRecorded { configuration.record = .ring(calls: 500) }
    if transportName != nil { configuration.transport = .own(transport(benchmark).transport) }
    return configuration
  }

  /// Requests that each have a separate URL.
  private static func alone(
    _ benchmark: Benchmark, _ send: @escaping @Sendable (Bytes) async throws -> Int
  ) async -> Result<BenchmarkResult, any Error> {
    let last = Atomic<Int>(0)
    return await detached {
      try await benchmark.parallel {
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        return try await send(Bytes(url: "\(benchmark.url)?\(number)"))
      }
    }
  }

  /// Runs tasks on the transport's own thread.
  private static func onLoop(
    _ benchmark: Benchmark, _ body: @escaping @Sendable (APIClient) async throws -> BenchmarkResult
  ) async -> Result<BenchmarkResult, any Error> {
    let (transport, executor) = transport(benchmark)
    var configuration = configuration(benchmark)
    configuration.transport = .own(transport)
    let client = APIClient(configuration)
    return await Task.detached(executorPreference: executor) { try await body(client) }.result
  }

  private static func detached(
    _ body: @escaping @Sendable () async throws -> BenchmarkResult
  ) async -> Result<BenchmarkResult, any Error> {
    await Task.detached { try await body() }.result
  }

  @MainActor private static func onMain(
    _ body: nonisolated(nonsending) () async throws -> BenchmarkResult
  ) async -> Result<BenchmarkResult, any Error> {
    do {
      return .success(try await body())
    } catch {
      return .failure(error)
    }
  }

  private static func core(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    let transport = transport(benchmark).transport
    let request = try HTTPRequest(url: benchmark.url)
    return try await benchmark.parallel { try await transport.send(Exchange(request: request)).body.count }
  }

  /// Sends calls to a server that lets them wait, by the client or by the transport alone.
  private static func held(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    if benchmark.mode.hasSuffix("-alone") {
      let transport = transport(benchmark).transport
      let request = try HTTPRequest(url: benchmark.url)
      try await HeldBenchmark.run(benchmark) {
        try await transport.send(Exchange(request: request, connectTimeout: nil, idleTimeout: nil)).body.count
      }
    }
    var configuration = configuration(benchmark)
    configuration.admission = AdmissionLimits(perHost: benchmark.count, total: benchmark.count)
    let client = APIClient(configuration)
    try await HeldBenchmark.run(benchmark) {
      try await client.send(HeldBenchmark.Request(url: benchmark.url)).count
    }
  }

  /// A client over a transport that responds immediately.
  private static func instantClient(_ benchmark: Benchmark) -> APIClient {
    var configuration = configuration(benchmark)
    configuration.transport = .own(InstantTransport())
    return APIClient(configuration)
  }

  private static func line(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    let client = instantClient(benchmark)
    if benchmark.plainMode == "line-typed" {
      return try await benchmark.sequential { try await client.send(TypedAccount(id: 7)).name.utf8.count }
    }
    let request = Bytes(url: benchmark.url)
    return try await benchmark.sequential { try await client.send(request).count }
  }

  /// The scheme and authority of a URL.
  private static func server(of url: String) -> String {
    (try? HTTPURL(url).origin.description) ?? "http://127.0.0.1"
  }

  private static func decode(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    guard let url = URL(string: benchmark.url), url.isFileURL else { throw CocoaError(.fileReadInvalidFileName) }
    let body = try Data(contentsOf: url)
    let decoder = JSONDecoder()
    if benchmark.plainMode == "decode-200b" {
      return try await benchmark.sequential { try JSONDecoding.fast.decode(Account.self, from: body).name.utf8.count }
    }
    return try await benchmark.sequential { try decoder.decode([Person].self, from: body).count }
  }
}

extension Benchmark {
  private static let joining = "-joining"
  private static let guarded = "-guarded"
  private static let recorded = "-recorded"

  /// Whether equal calls share an exchange.
  fileprivate var joins: Bool { mode.hasSuffix(Self.joining) }

  /// Whether retries, account, breaker and rate limit are on.
  fileprivate var isGuarded: Bool { mode.hasSuffix(Self.guarded) }

  /// Whether the client records its calls.
  fileprivate var isRecorded: Bool { mode.hasSuffix(Self.recorded) }

  /// The mode without the suffixes for joining, guards and the record.
  fileprivate var plainMode: String {
    let suffix = [Self.joining, Self.guarded, Self.recorded].first { mode.hasSuffix($0) }
    return String(mode.dropLast(suffix?.count ?? 0))
  }
}
