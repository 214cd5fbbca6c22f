import Errand
import ErrandCurl
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Clients, owners, transports and settings that are released or changed while calls run over real sockets.
@Suite(.serialized) struct LifeAttackTests {
  @Test func `client may be released during its calls`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
    let told = Recorded<String>()
    let ended = Latch()
    let leaks = LeakCheck()
    do {
      let client = APIClient(baseURL: server.url)
      leaks.watch(client, "client")
      for number in 0..<20 {
        client.start(outcomeOf: Ask<String>(path: "/\(number)"), on: .inPlace) {
          told.append($0.told)
          if told.count == 20 { ended.open() }
        }
      }
    }
    try await gate.reached(times: 20)
    #expect(await leaks.survivors().isEmpty)
    gate.open()
    await ended.waitStubbornly()
    #expect(told.all == Array(repeating: "success", count: 20))
  }

  @Test func `released owner closes its calls' connections`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let client = APIClient(baseURL: server.url)
    let ended = Latch()
    let told = Recorded<String>()
    var owner: CallOwner? = CallOwner()
    if let owner {
      for number in 0..<10 {
        client.start(outcomeOf: Sending(path: "/\(number)"), on: .inPlace, options: .owner(owner)) {
          told.append($0.told)
          if told.count == 10 { ended.open() }
        }
      }
    }
    try await server.wait { $0.requests.count == 10 }
    owner = nil
    await ended.waitStubbornly()
    #expect(told.all == Array(repeating: "cancelled", count: 10))
    try await server.wait { $0.openConnectionCount == 0 }
  }

  @Test func `settings may change during calls`() async throws {
    let server = try LoopbackServer { _ in .ok("value") }
    let transport = CurlTransport()
    let client = APIClient(baseURL: server.url)
    client.configure { $0.transport = .own(transport) }
    let changes = Task { @concurrent in
      var round = 0
      while !Task.isCancelled {
        round += 1
        var configuration = transport.configuration
        configuration.maximumIdleConnections = 1 + round % 7
        try transport.update(configuration)
        client.configure { $0.headers = ["X-Round": .text("\(round)")] }
        client.configure { $0.admission = AdmissionLimits(perHost: 1 + round % 5, total: 8) }
        await Task.yield()
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          for _ in 0..<25 {
            let value = try await client.send(Ask<String>())
            #expect(value == "value")
          }
        }
      }
      try await group.waitForAll()
    }
    changes.cancel()
    try await changes.value
    #expect(client.running.isEmpty && client.admission == (0, 0))
    try await server.wait { $0.openConnectionCount <= 8 }
  }

  @Test func `cancel from progress ends the call`() async throws {
    let server = try LoopbackServer { _ in .endless() }
    let client = APIClient(baseURL: server.url)
    let ended = Latch()
    let events = Recorded<String>()
    client.start(
      Sending(), on: .inPlace, options: .tag("progress"), onSuccess: { _ in events.append("success") },
      onFailure: {
        events.append($0.stage.rawValue)
        ended.open()
      },
      onProgress: { _ in
        events.append("progress")
        client.cancel(tag: "progress")
      })
    await ended.waitStubbornly()
    #expect(events.all.last == "cancelled" && events.all.count { $0 == "cancelled" } == 1)
    try await server.wait { $0.openConnectionCount == 0 }
  }

  /// The places at which a call can be cancelled.
  enum Place: CaseIterable, Sendable {
    case connecting, silent, inHead, inBody, inUpload, redirected, queued, inInterceptor, inCredential, decoding
  }

  @Test(arguments: Place.allCases) func `cancel ends a call at any stage`(place: Place) async throws {
    let stage = CancelStage(place)
    let server = try stage.server()
    let client = APIClient(baseURL: server.url)
    client.configure { stage.prepare(&$0) }
    let blocker = place == .queued ? Task { await client.outcome(of: Sending(path: "/block")) } : nil
    if place == .queued { try await server.request(number: 1) }
    async let outcome = client.outcome(of: stage.request, options: .tag("it"))
    try await stage.reached(server, client)
    let start = ContinuousClock.now
    client.cancel(tag: "it")
    stage.let()
    #expect(await outcome.error?.stage == .cancelled)
    if !isSanitized { #expect(start.duration(to: .now) < .seconds(30)) }
    client.cancelAll()
    _ = await blocker?.value
    #expect(client.running.isEmpty)
    #expect(await eventually { client.admission == (0, 0) })
    try await server.wait { $0.openConnectionCount <= 1 }
  }

  /// Uses the real clock and a generous limit; other tests measure how late a call may end. On a busy machine the
  /// deadline may expire before the call reaches its place, and ends the call anyway.
  @Test(arguments: Place.allCases.filter { $0 != .decoding })
  func `deadline ends a call at any stage`(place: Place) async throws {
    let stage = CancelStage(place)
    let server = try stage.server()
    let client = APIClient(baseURL: server.url)
    client.configure { stage.prepare(&$0) }
    let blocker =
      place == .queued
      ? Task { await client.outcome(of: Sending(path: "/block"), options: .deadline(.never)) } : nil
    if place == .queued { try await server.request(number: 1) }
    let start = ContinuousClock.now
    let outcome = await client.outcome(of: stage.request, options: .deadline(.milliseconds(250)))
    let took = start.duration(to: .now)
    #expect(outcome.error?.stage == .deadline && outcome.error?.code == .deadline)
    #expect(took >= .milliseconds(250) && took < .seconds(30), "\(took)")
    client.cancelAll()
    _ = await blocker?.value
    #expect(client.running.isEmpty)
    #expect(await eventually { client.admission == (0, 0) })
    try await server.wait { $0.openConnectionCount <= 1 }
  }
}
