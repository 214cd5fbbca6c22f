@testable import ErrandCore
import Errand
import ErrandTesting
import Testing
import TestSupport

/// Groups as members of groups: values, paths of errors, inherited options, and stops.
struct GroupNestingTests {
  private struct Greeting: GroupStep {
    let name: String
    func run(in group: GroupScope) async throws(APIError) -> String {
      let first = try await group.send(Words(name))
      return first + (try await group.send(Wish(name == "bad" ? "broken" : "ok")))
    }
  }

  private struct SignUp: CallGroup {
    let wish: String
    func body(in group: GroupScope) async throws -> String {
      let number = try await group.send(Number(1))
      return "\(number)" + (try await group.send(Wish(wish)))
    }
  }

  /// A custom group whose members run concurrently.
  private struct Pair: CallGroup {
    var kind: GroupKind { .batch }
    func body(in group: GroupScope) async throws -> String {
      async let one = group.send(Words("one"))
      async let two = group.send(Wish("broken"))
      return try await one + two
    }
  }

  @Test func `values pass through every level`() async throws {
    let server = GroupServer()
    let inner = Batch(Number(1), Words("a"))
    let chain = Chain("inner") { chain in try await chain.send(Number(9)) }
    let (pair, nine, hello) = try await server.client.batch(inner, chain, Greeting(name: "x"))
    #expect(pair == (1, "a") && nine == 9 && hello == "xok")
    let text = try await server.client.chain { chain in
      let numbers = try await chain.batch([Number(1), Number(2)])
      let signed = try await chain.send(SignUp(wish: "ok"))
      let (a, b) = try await chain.batch(Words("a"), Batch(Words("b"), Number(3)))
      let first = try await chain.first(of: [Number(4)])
      let kept = await chain.outcomes(of: [Number(5)])
      return "\(numbers)\(signed)\(a)\(b.0)\(b.1)\(first)\(kept.count)"
    }
    #expect(text == "[1, 2]1okab341")
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `error has the whole path`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let batch = Batch([Wish("ok"), Wish("broken")], width: 1)
    let chain = Chain("sign up") { chain in
      _ = try await chain.send(Number(1))
      return try await chain.send(batch)
    }
    let error = try await #require(throws: APIError.self) { _ = try await server.client.batch(Number(1), chain) }
    #expect(
      error.members == [
        GroupMember(kind: .batch, group: "batch", index: 1, name: "sign up"),
        GroupMember(kind: .chain, group: "sign up", index: 1, name: "batch"),
        GroupMember(kind: .batch, group: "batch", index: 1, name: "Wish"),
      ])
    let text = "(step 2 of the chain sign up, batch) (member 2 of the batch, Wish)"
    #expect("\(error)".hasSuffix(text), "\(error)")
    #expect(error.request?.url.path == "/broken/broken")
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `custom group types are named`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let signing = try await #require(throws: APIError.self) { _ = try await server.client.send(SignUp(wish: "broken")) }
    #expect(signing.members == [GroupMember(kind: .chain, group: "SignUp", index: 1, name: "Wish")])
    #expect("\(signing)".hasSuffix("(step 2 of the chain SignUp, Wish)"))
    let greeting = try await #require(throws: APIError.self) {
      _ = try await server.client.batch([Greeting(name: "bad")])
    }
    #expect(greeting.members == [GroupMember(kind: .batch, group: "batch", index: 0, name: "Greeting")])
    let pair = try await #require(throws: APIError.self) { _ = try await server.client.send(Pair()) }
    #expect(pair.members.map(\.name) == ["Wish"])
    #expect(pair.members.first?.description.hasSuffix("of the batch Pair, Wish") == true)
  }

  @Test func `handled failure does not affect other members`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let outcome = await server.client.outcome(
      of: Chain { chain in
        let broken = await chain.outcome(of: Batch(Number(1), Broken()))
        let single = await chain.outcome(of: Broken())
        #expect(single.error?.members.map(\.name) == ["Broken"])
        let screen = await chain.outcome(of: Broken(), as: Reform { (broken: Broken.Response) in broken })
        #expect(screen.error?.members.map(\.name) == ["Broken"])
        return "\(broken.told) " + (try await chain.send(Words("on")))
      })
    #expect(outcome.value == "validate on")
    let states = outcome.report.entries.map { "\($0.state)" }
    #expect(states == Array(repeating: "failed: status 500", count: 3) + ["network"])
  }

  /// Code that accepts any sender works alone and as part of a group.
  @Test func `client and scope are both senders`() async throws {
    @Sendable func load(by sender: some CallSender) async throws(APIError) -> String {
      let (a, b) = try await sender.batch(Words("a"), Number(2))
      let c = try await sender.send(Words("c"))
      let d = await sender.outcome(of: Words("d")).value ?? ""
      let group = await sender.outcome(of: Batch([Words("e")])).value ?? []
      return "\(a)\(b)\(c)\(d)\(try await sender.send(Batch([Words("f")])))\(group)"
    }
    let server = GroupServer()
    #expect(try await load(by: server.client) == #"a2cd["f"]["e"]"#)
    let outcome = await server.client.outcome(of: Chain { chain in try await load(by: chain) })
    #expect(outcome.value == #"a2cd["f"]["e"]"#)
    #expect(outcome.report.calls == 6)
  }

  // MARK: - Inherited options

  @Test func `options reach the innermost member`() async throws {
    let server = GroupServer()
    let calls = Recorded<CallEvent>()
    let owner = CallOwner()
    var members = CallOptions(priority: .high, headers: ["X-Page": "home", "X-Own": "group"])
    members.accessories = [GroupNoter("member", Recorded(), calls: calls)]
    let options = GroupOptions(owner: owner, tag: "feed", members: members)
    let task = Task {
      await server.client.outcome(
        of: Chain { chain in
          try await chain.batch(
            Chain { inner in
              try await inner.send(
                Words("x", latch: true), options: CallOptions(tag: "own", headers: ["X-Own": "call"]))
            }, Words("y", latch: true))
        }, options: options)
    }
    await server.latch.reached(2)
    let running = server.client.running.sorted { ($0.info.tag ?? "") > ($1.info.tag ?? "") }
    #expect(running.map(\.info.tag) == ["own", "feed"])
    #expect(running.map(\.info.priority) == [.high, .high])
    #expect(server.transport.requests.map { $0.fields["X-Page"] } == ["home", "home"])
    #expect(Set(server.transport.requests.map { $0.fields["X-Own"] }) == ["group", "call"])
    #expect(server.client.cancel(owner: owner) == 1)
    #expect(await task.value.told == "cancelled")
    #expect(calls.stories(of: "member").count == 2)
    #expect(calls.unfinished(of: "member").isEmpty)
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `owner and tag of nearest group count`() async throws {
    let server = GroupServer()
    let (outer, inner) = (CallOwner(), CallOwner())
    let options = GroupOptions(members: CallOptions(owner: outer, tag: "outer"))
    let task = Task {
      await server.client.outcome(
        of: Chain { chain in
          try await chain.send(Batch([Words("x", latch: true)]), options: GroupOptions(owner: inner, tag: "inner"))
        }, options: options)
    }
    await server.latch.reached()
    #expect(server.client.running.map(\.info.tag) == ["inner"])
    #expect(server.client.cancel(owner: outer) == 0, "the member belongs to the owner of its group")
    #expect(server.client.cancel(owner: inner) == 1)
    #expect(await task.value.told == "cancelled")
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `inner deadline ends the inner group`() async throws {
    let server = GroupServer()
    let task = Task {
      await server.client.chain { chain in
        let inner = await chain.outcome(of: Batch([Words("x", latch: true)]), options: .deadline(.seconds(2)))
        return "\(inner.told): \(inner.error?.message ?? "")"
      }
    }
    await server.latch.reached()
    server.clock.advance(by: .seconds(2))
    #expect(
      await task.value
        == "deadline: The batch did not end within its deadline of 2.0 seconds; raise `deadline` to wait longer.")
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `outer deadline names the outer group`() async throws {
    let server = GroupServer()
    let inner = Recorded<APIError?>()
    let member = Recorded<APIError?>()
    let task = Task {
      await server.client.outcome(
        of: Chain("outer") { chain in
          let batch = await chain.outcome(of: Batch(outcomesOf: [Words("x", latch: true)]))
          inner.append(batch.error)
          member.append(await chain.outcome(of: Words("y", latch: true)).error)
        }, options: .deadline(.seconds(2)))
    }
    await server.latch.reached()
    server.clock.advance(by: .seconds(2))
    let error = try #require(await task.value.error)
    #expect(
      error.message == "The chain did not end within its deadline of 2.0 seconds; raise `deadline` to wait longer.")
    #expect(error.members.isEmpty)
    for error in inner.all + member.all {
      let error = try #require(error)
      #expect(error.stage == .deadline)
      #expect(!error.message.contains("timeouts.total"), "\(error.message)")
    }
  }

  @Test func `cancel counts a group once`() async throws {
    let server = GroupServer()
    // Frees a slot in the middle, so that a member is listed before its group.
    let first = server.client.start(Words("a", latch: true), on: .inPlace) { _ in }
    await server.latch.reached()
    let outer = Task {
      await server.client.outcome(
        of: Chain { chain in
          first.cancel()
          _ = await eventually { server.client.running.isEmpty }
          return try await chain.batch(Words("b", latch: true), Words("c", latch: true))
        })
    }
    await server.latch.reached(3)
    #expect(server.client.running.count == 2)
    #expect(server.client.cancelAll() == 1)
    #expect(await outer.value.told == "cancelled")
    #expect(await server.leftovers().isEmpty)
  }
}
