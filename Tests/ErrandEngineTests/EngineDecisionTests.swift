#if os(Linux)
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  private func moment(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

  struct IdlePoolTests {
    private final class Thing {}

    private static func origin(_ host: String) throws -> HTTPURL.Origin { try HTTPURL("http://\(host)/").origin }

    @Test func `the last used connection is reused first`() throws {
      let (one, two) = (Thing(), Thing())
      let origin = try Self.origin("a")
      var pool = IdlePool<Thing>(most: 9, mostPerOrigin: 9, age: .seconds(10))
      #expect(pool.keep(one, for: origin, now: moment(0)).isEmpty)
      #expect(pool.keep(two, for: origin, now: moment(1)).isEmpty)
      #expect(pool.take(for: try Self.origin("b"), now: moment(1)).connection == nil)
      #expect(pool.take(for: origin, now: moment(2)).connection === two)
      #expect(pool.take(for: origin, now: moment(2)).connection === one)
      #expect(pool.take(for: origin, now: moment(2)).connection == nil && pool.count == 0)
    }

    @Test func `a connection that is too old is removed`() throws {
      let things = (0..<3).map { _ in Thing() }
      let origin = try Self.origin("a")
      var pool = IdlePool<Thing>(most: 9, mostPerOrigin: 9, age: .seconds(10))
      for (second, thing) in things.enumerated() { _ = pool.keep(thing, for: origin, now: moment(Int64(second))) }
      #expect(pool.nextExpiry == moment(10))
      #expect(pool.expire(now: moment(9)).isEmpty)
      #expect(pool.expire(now: moment(11)).count == 2 && pool.nextExpiry == moment(12))
      let (taken, expired) = pool.take(for: origin, now: moment(12))
      #expect(taken == nil && expired.count == 1 && expired.first === things[2] && pool.count == 0)
      #expect(pool.expire(now: moment(99)).isEmpty && pool.nextExpiry == nil)
    }

    @Test func `few origins without connections are kept`() throws {
      var pool = IdlePool<Thing>(most: 2, mostPerOrigin: 2, age: .seconds(10))
      for host in 0..<50 {
        let (origin, thing) = (try Self.origin("h\(host)"), Thing())
        _ = pool.keep(thing, for: origin, now: moment(Int64(host)))
        let removed =
          switch host % 3 {
          case 0: pool.remove(thing, of: origin) ? thing : nil
          case 1: pool.take(for: origin, now: moment(Int64(host))).connection
          default: pool.removeOldest()
          }
        #expect(removed === thing)
        #expect(pool.originCount <= 8 && pool.count == 0 && pool.nextExpiry == nil)
      }
    }

    @Test func `the limits on idle connections are enforced`() throws {
      let things = (0..<4).map { _ in Thing() }
      var pool = IdlePool<Thing>(most: 3, mostPerOrigin: 2, age: .seconds(10))
      for place in 0..<2 {
        #expect(pool.keep(things[place], for: try Self.origin("a"), now: moment(Int64(place))).isEmpty)
      }
      let surplus = pool.keep(things[2], for: try Self.origin("a"), now: moment(2))
      #expect(surplus.count == 1 && surplus.first === things[0] && pool.count == 2)
      #expect(pool.keep(things[3], for: try Self.origin("b"), now: moment(3)).isEmpty)
      let oldest = pool.keep(things[0], for: try Self.origin("c"), now: moment(4))
      #expect(oldest.count == 1 && oldest.first === things[1] && pool.count == 3)
    }

    @Test func `a connection that has ended is removed`() throws {
      let (one, two) = (Thing(), Thing())
      let origin = try Self.origin("a")
      var pool = IdlePool<Thing>(most: 9, mostPerOrigin: 9, age: .seconds(10))
      for thing in [one, two] { _ = pool.keep(thing, for: origin, now: moment(0)) }
      #expect(pool.remove(one, of: origin) && !pool.remove(one, of: origin))
      #expect(pool.removeAll().count == 1 && pool.count == 0)
      #expect(pool.removeOldest() == nil)
    }

    /// Otherwise the loop would wake to check a pool without connections.
    @Test func `an empty pool schedules no check`() throws {
      let thing = Thing()
      let origin = try Self.origin("a")
      let removals: [(String, (inout IdlePool<Thing>) -> Bool)] = [
        ("take", { $0.take(for: origin, now: moment(1)).connection === thing }),
        ("take of an expired connection", { $0.take(for: origin, now: moment(10)).expired.first === thing }),
        ("remove", { $0.remove(thing, of: origin) }), ("removeOldest", { $0.removeOldest() === thing }),
        ("expire", { $0.expire(now: moment(10)).first === thing }), ("removeAll", { $0.removeAll().first === thing }),
      ]
      for (name, removal) in removals {
        var pool = IdlePool<Thing>(most: 9, mostPerOrigin: 9, age: .seconds(10))
        _ = pool.keep(thing, for: origin, now: moment(0))
        #expect(pool.nextExpiry == moment(10))
        let isRemoved = removal(&pool)
        #expect(isRemoved && pool.count == 0 && pool.nextExpiry == nil, "\(name)")
        _ = pool.keep(thing, for: origin, now: moment(20))
        #expect(pool.nextExpiry == moment(30), "\(name)")
      }
      var none = IdlePool<Thing>(most: 9, mostPerOrigin: 0, age: .seconds(10))
      #expect(none.keep(thing, for: origin, now: moment(0)).first === thing && none.nextExpiry == nil)
    }
  }

  struct AddressRaceTests {
    private static func addresses(_ texts: [String]) throws -> [SocketAddress] {
      try texts.map { try #require(SocketAddress(numeric: $0, port: 80)) }
    }

    @Test func `IPv6 and IPv4 addresses alternate`() throws {
      let mixed = AddressRace.interleaved(try Self.addresses(["::1", "::2", "::3", "127.0.0.1", "127.0.0.2"]))
      #expect(mixed.map(\.text) == ["::1", "127.0.0.1", "::2", "127.0.0.2", "::3"])
      #expect(AddressRace.interleaved([]).isEmpty)
    }

    @Test func `another attempt begins after 250 ms`() throws {
      var race = AddressRace(try Self.addresses(["::1", "127.0.0.1"]))
      #expect(race.nextAttempt == nil && !race.isLost)
      #expect(race.next(now: moment(0))?.text == "::1")
      #expect(race.next(now: moment(0)) == nil)
      let due = moment(0).advanced(by: .milliseconds(250))
      #expect(race.nextAttempt == due)
      #expect(race.next(now: due)?.text == "127.0.0.1")
      #expect(race.nextAttempt == nil && race.next(now: moment(9)) == nil)
      race.failed(now: moment(1))
      #expect(!race.isLost)
      race.failed(now: moment(1))
      #expect(race.isLost)
    }

    @Test func `a failure begins the next attempt at once`() throws {
      var race = AddressRace(try Self.addresses(["127.0.0.1", "127.0.0.2", "127.0.0.3"]))
      _ = race.next(now: moment(0))
      race.failed(now: moment(0))
      #expect(race.next(now: moment(0))?.text == "127.0.0.2")
      _ = race.next(now: moment(1))
      race.failed(now: moment(1))
      race.failed(now: moment(1))
      #expect(race.isLost)
    }

    @Test func `a postponed attempt is repeated after 10 ms`() throws {
      var race = AddressRace(try Self.addresses(["127.0.0.1", "127.0.0.2"]))
      let first = race.next(now: moment(0))
      let address = try #require(first)
      race.postponed(address, now: moment(0))
      let due = moment(0).advanced(by: .milliseconds(10))
      #expect(race.nextAttempt == due && !race.isLost)
      #expect(race.next(now: moment(0)) == nil)
      #expect(race.next(now: due)?.text == "127.0.0.1")
    }

    @Test func `a race without addresses is lost at once`() { #expect(AddressRace([]).isLost) }
  }

  struct SocketAddressTests {
    @Test(arguments: [
      ("127.0.0.1", "127.0.0.1", AddressKind.loopback), ("[::1]", "::1", .loopback), ("::1", "::1", .loopback),
      ("127.1", "127.0.0.1", .loopback), ("10.0.0.1", "10.0.0.1", .privateNetwork),
      ("fe80::1%lo", "fe80::1%lo", .linkLocal), ("fe80::1", "fe80::1", .linkLocal),
      ("2001:4860::8", "2001:4860::8", .global),
    ])
    func `a numeric address is parsed`(text: String, written: String, kind: AddressKind) throws {
      let address = try #require(SocketAddress(numeric: text, port: 443))
      #expect(address.text == written && address.kind == kind && !address.isUnix)
    }

    @Test(arguments: ["localhost", "", "::g", "127.0.0.1.1", "a\0", "[127.0.0.1", "1.2.3.4:80"])
    func `other text is no numeric address`(text: String) { #expect(SocketAddress(numeric: text, port: 80) == nil) }

    @Test func `a path is the address of a Unix domain socket`() throws {
      let address = try #require(SocketAddress(socket: "/run/x.sock"))
      #expect(address.isUnix && address.kind == nil && address.text == "/run/x.sock")
      #expect(SocketAddress(socket: "/" + String(repeating: "x", count: 107)) == nil)
      #expect(SocketAddress(socket: "") == nil && SocketAddress(socket: "/a\0b") == nil)
    }
  }

  struct WatchListTests {
    private final class Thing {}

    @Test func `the member with the earliest time is returned first`() {
      var list = WatchList<Thing>()
      let (one, two) = (Thing(), Thing())
      let (first, second) = (list.insert(one), list.insert(two))
      #expect(list.count == 2 && list.next == nil)
      list.expect(first, at: moment(5))
      list.expect(second, at: moment(3))
      #expect(list.next == moment(3) && list.popDue(moment(2)) == nil)
      #expect(list.popDue(moment(4)) === two && list.popDue(moment(4)) == nil)
      list.expect(second, at: moment(9))
      list.expect(first, at: moment(7))
      #expect(list.next == moment(5), "a later time does not replace an earlier one")
      list.expect(first, at: moment(1))
      #expect(list.next == moment(1))
      list.remove(first)
      list.remove(first)
      #expect(list.next == moment(9) && list.count == 1 && list.all.count == 1)
      #expect(list.insert(one) == first)
    }
  }

  struct RequestBufferTests {
    private static func text(_ request: HTTPRequest, expectsContinue: Bool = false) -> String {
      var buffer = RequestBuffer()
      let upload = request.body.flatMap {
        EngineExchange.isInline($0) || request.method == .head ? nil : BodyUpload($0)
      }
      for _ in 0..<2 { buffer.write(request, upload: upload, expectsContinue: expectsContinue) }
      return String(decoding: buffer.bytes, as: UTF8.self)
    }

    @Test func `a request consists of its request line, fields and body`() throws {
      let url = try HTTPURL("http://h:81/a?b")
      #expect(Self.text(HTTPRequest(url: url)) == "GET /a?b HTTP/1.1\r\nHost: h:81\r\n\r\n")
      let fields: HTTPFields = ["A": "b", "C": ""]
      #expect(
        Self.text(HTTPRequest(method: .post, url: url, fields: fields, body: HTTPBody(Data("xy".utf8))))
          == "POST /a?b HTTP/1.1\r\nHost: h:81\r\nA: b\r\nC:\r\nContent-Length: 2\r\n\r\nxy")
    }

    @Test func `the framing follows the body`() throws {
      let url = try HTTPURL("http://h/")
      let stream = HTTPBody.stream { _ in throw POSIXError(.EIO) }
      let known = HTTPBody.stream(length: 7) { _ in throw POSIXError(.EIO) }
      #expect(Self.text(HTTPRequest(method: .post, url: url)).hasSuffix("h\r\nContent-Length: 0\r\n\r\n"))
      #expect(Self.text(HTTPRequest(method: .delete, url: url)).hasSuffix("h\r\n\r\n"))
      #expect(
        Self.text(HTTPRequest(method: .put, url: url, body: stream)).hasSuffix(
          "h\r\nTransfer-Encoding: chunked\r\n\r\n"))
      #expect(
        Self.text(HTTPRequest(method: .put, url: url, body: known), expectsContinue: true)
          .hasSuffix("h\r\nContent-Length: 7\r\nExpect: 100-continue\r\n\r\n"))
      #expect(Self.text(HTTPRequest(method: .head, url: url, body: HTTPBody(Data()))).hasSuffix("h\r\n\r\n"))
    }

    @Test func `long fields enlarge the buffer`() throws {
      let long = String(repeating: "x", count: 700_000)
      let text = Self.text(HTTPRequest(url: try HTTPURL("http://h/"), fields: ["X": long]))
      #expect(text == "GET / HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n")
    }
  }

  struct SocketTableTests {
    @Test func `an old token never reaches a new owner`() throws {
      var table = SocketTable()
      let loop = EngineLoop(EngineConfiguration())
      let exchange = EngineExchange(Exchange(request: try HTTPRequest(url: "http://example.com/")))
      let first = table.insert(.connector(EngineConnector(exchange, loop)))
      #expect(table.owner(of: first) != nil && table.count == 1)
      #expect(table.remove(first) != nil && table.remove(first) == nil && table.count == 0)
      let second = table.insert(.connector(EngineConnector(exchange, loop)))
      #expect(second != first && table.owner(of: first) == nil && table.owner(of: second) != nil)
      #expect(table.owner(of: 99) == nil && table.owner(of: .max) == nil)
    }
  }
#endif
