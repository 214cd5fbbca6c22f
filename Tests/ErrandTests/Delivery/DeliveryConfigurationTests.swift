import Errand
import ErrandCurl
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// The configuration is a value that any thread can change at run time, with effect on calls that start later.
struct DeliveryConfigurationTests {
  private func client(_ latch: Latch? = nil) -> (client: APIClient, transport: ScriptedTransport) {
    let transport = ScriptedTransport { request in
      try await latch?.wait()
      return .text(request.fields["X-Name"] ?? "nobody")
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    return (APIClient(configuration), transport)
  }

  @Test func `concurrent changes are not lost`() async {
    let (client, _) = client()
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<8 {
        group.addTask {
          for index in 0..<50 {
            client.configure { $0.headers.set(HTTPFieldName("X-\(lane)-\(index)"), "1") }
          }
        }
      }
    }
    var fields = HTTPFields()
    client.configuration.headers.apply(to: &fields)
    for lane in 0..<8 {
      for index in 0..<50 where fields[HTTPFieldName("X-\(lane)-\(index)")] == nil {
        Issue.record("X-\(lane)-\(index) is lost")
      }
    }
  }

  @Test func `current limits match the configuration`() async {
    for _ in 0..<rounds * 4 {
      let (client, _) = client()
      await withTaskGroup(of: Void.self) { group in
        for lane in 1...4 {
          group.addTask { client.configure { $0.admission = AdmissionLimits(perHost: lane, total: lane) } }
        }
      }
      #expect(client.services.admission.limits == client.configuration.admission)
    }
  }

  @Test func `running call keeps its configuration`() async throws {
    let latch = Latch()
    let (client, first) = client(latch)
    client.configure { $0.headers.set("X-Name", "old") }
    let told = Recorded<String>()
    client.configure { $0.accessories = [Noter("old", told)] }
    async let running = client.send(WatchedRequest())
    await latch.reached()
    let second = ScriptedTransport(.text("second"))
    client.configure {
      $0.headers.set("X-Name", "new")
      $0.accessories = [Noter("new", told)]
      $0.transport = .own(second)
      $0.validation.status = [418]
    }
    latch.open()
    #expect(try await running == "old")
    #expect(first.requests.count == 1)
    #expect(told.all == ["willStart old", "progress old", "willStop old success", "didStop old success"])
    #expect(await client.outcome(of: WatchedRequest()).error?.code == .status)
    #expect(second.requests.count == 1)
  }

  @Test func `raised limits admit waiting calls`() async {
    let latch = Latch()
    let (client, _) = client(latch)
    client.configure {
      $0.admission = AdmissionLimits(perHost: 1)
      $0.overlap.joining = .never
    }
    let calls = (0..<4).map { _ in client.start(WatchedRequest(), on: .inPlace) { _ in } }
    await latch.reached()
    #expect(await eventually { client.admission == (1, 3) })
    client.configure { $0.admission = AdmissionLimits(perHost: 3) }
    await latch.reached(3)
    #expect(client.admission == (3, 1))
    latch.open()
    #expect(await eventually { calls.allSatisfy { !$0.isExecuting } })
    #expect(await eventually { client.admission == (0, 0) })
  }

  @Test func `clients are independent`() async throws {
    let latch = Latch()
    let (first, _) = client(latch)
    let (second, _) = client()
    second.configure { $0.headers.set("X-Name", "second") }
    async let held = first.outcome(of: WatchedRequest(), options: .tag("both"))
    await latch.reached()
    #expect(try await second.send(WatchedRequest(), options: .tag("both")) == "second")
    #expect(second.running.isEmpty)
    #expect(second.cancel(tag: "both") == 0)
    #expect(first.cancel(tag: "both") == 1)
    #expect(await held.told == "cancelled")
  }

  @Test func `request property is read once`() async throws {
    let (client, _) = client()
    let reads = Recorded<String>()
    let spinner = LoadingIndicator(timers: ManualClock()) { _ in }
    client.configure { $0.accessories = [spinner] }
    _ = try await client.send(CountingRequest(reads: reads))
    for name in Set(reads.all) { #expect(reads.all.count { $0 == name } == 1, "\(name)") }
    #expect(reads.all.contains("delivery"))
  }

  // MARK: - Transports by name

  @Test func `unknown transport lists the known ones`() async {
    TransportRegistry.shared.register("delivery-known") { ScriptedTransport(.text("known")) }
    let (client, _) = client()
    client.configure { $0.transport = .named("nope") }
    let error = await client.outcome(of: WatchedRequest()).error
    #expect(error?.stage == .build)
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("\"nope\"") == true)
    #expect(error?.message.contains("delivery-known") == true)
    client.configure { $0.transport = .named("delivery-known") }
    #expect(await client.outcome(of: WatchedRequest()).value == "known")
  }

  @Test func `platform transport is registered by name`() async {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .named("curl")
    let client = APIClient(configuration)
    #expect(client.snapshot.capabilities == CurlTransport().capabilities)
    #expect(TransportRegistry.shared.names.contains("curl"))
  }

  @Test func `missing capability is named`() async {
    struct Plain: Transport {
      func send(_ exchange: Exchange) async throws -> HTTPResponse { throw TransportFailure(.other, "unused") }
    }
    struct NullSink: BodySink {
      func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
      func write(_ piece: UnsafeRawBufferPointer) -> Bool { true }
      func end() {}
    }
    let (client, _) = client()
    let options = CallOptions(bodySink: NullSink())
    #expect(await client.outcome(of: WatchedRequest(), options: options).error == nil)
    client.configure { $0.transport = .own(Plain()) }
    let error = await client.outcome(of: WatchedRequest(), options: options).error
    #expect(error?.stage == .build)
    #expect(error?.message.contains("bodySink") == true)
    #expect(error?.attempts == 0)
    client.configure { $0.transport = .named("nope") }
    let unknown = await client.outcome(of: WatchedRequest(), options: options).error
    #expect(unknown?.message.contains("nope") == true, "the message names the missing transport, not a capability")
  }
}

/// A request that records each read of its properties.
private struct CountingRequest: APIRequest {
  typealias Response = String
  let reads: Recorded<String>

  private func note<Value>(_ name: String = #function, _ value: Value) -> Value {
    reads.append(name)
    return value
  }

  var path: Path { note("path", "/counted") }
  var method: HTTPMethod { note("method", .post) }
  var server: RequestServer { note("server", .base) }
  var family: RequestFamily? { note("family", nil) }
  var arguments: Arguments { note("arguments", ["a": 1]) }
  var formats: Formats { note("formats", Formats(arguments: .byMethod)) }
  var body: RequestBody? { note("body", nil) }
  var headers: RequestHeaders { note("headers", RequestHeaders()) }
  var credential: RequestCredential { note("credential", .inherited) }
  var timeouts: Timeouts { note("timeouts", .inherited) }
  var priority: CallPriority { note("priority", .normal) }
  var network: NetworkWish { note("network", NetworkWish()) }
  var redirects: RedirectPolicy { note("redirects", .inherited) }
  var validation: ResponseValidation { note("validation", .inherited) }
  var decoder: ResponseDecoder<String> { note("decoder", .automatic) }
  var delivery: Delivery<String> { note("delivery", Delivery(beforeCompletion: { _ in }, afterCompletion: { _ in })) }
}
