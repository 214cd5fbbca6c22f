#if os(Linux)
  import CNGHTTP2
  import Glibc

  /// One frame of HTTP/2 that a test server has received.
  struct Frame {
    enum Kind: UInt8 {
      case data, headers, priority, reset, settings, push, ping, goAway, windowUpdate, continuation
    }

    let kind: Kind?
    let flags: UInt8
    let stream: Int
    let payload: [UInt8]
    /// The decoded fields of HEADERS.
    var fields: [(name: String, value: String)] = []

    var endsStream: Bool { flags & 1 != 0 && (kind == .data || kind == .headers) }
    var path: String { self[":path"] ?? "" }

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The number in the last four bytes of the payload: an error code, or the size of a window.
    var number: Int { payload.suffix(4).reduce(0) { $0 << 8 | Int($1) } }
  }

  /// The server's side of one connection, used on one thread. Reading gives up after ten seconds.
  final class FramePeer {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    let number: Int
    private let socket: Int32
    private var buffer: [UInt8] = []
    private var inflater: OpaquePointer?

    init(_ socket: Int32, number: Int) {
      self.socket = socket
      self.number = number
      var limit = timeval(tv_sec: 60, tv_usec: 0)
      setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      var one: Int32 = 1
      setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
      nghttp2_hd_inflate_new(&inflater)
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// Makes the system keep few received bytes, so that the client can send little while the script does not read.
    func shrinkReceiveBuffer() {
      var size: Int32 = 64 << 10
      setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: - Reading

    /// Reads the preface and sends the settings.
    func start(_ settings: [(id: Int, value: Int)] = []) throws {
      guard try bytes(Self.preface.count) == Self.preface else { throw SocketFault(call: "preface") }
      send(settings: settings)
    }

    /// Reads the next frame. Acknowledges SETTINGS and PING.
    func next() throws -> Frame {
      let header = try bytes(9)
      let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
      var frame = Frame(
        kind: Frame.Kind(rawValue: header[3]), flags: header[4],
        stream: header[5...].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF, payload: try bytes(length))
      switch frame.kind {
      case .headers: frame.fields = try decode(frame)
      case .settings where frame.flags & 1 == 0: send(.settings, flags: 1, 0, [])
      case .ping where frame.flags & 1 == 0: send(.ping, flags: 1, 0, frame.payload)
      default: break
      }
      return frame
    }

    /// Reads frames until one fulfils a condition.
    func next(where isWanted: (Frame) -> Bool) throws -> Frame {
      while true {
        let frame = try next()
        if isWanted(frame) { return frame }
      }
    }

    /// Reads frames until a request begins.
    func nextRequest() throws -> Frame { try next { $0.kind == .headers } }

    /// Reads frames until the request on a stream has ended. Returns its content.
    func body(of stream: Int) throws -> [UInt8] {
      var body: [UInt8] = []
      while true {
        let frame = try next { $0.stream == stream }
        if frame.kind == .reset { throw SocketFault(call: "reset") }
        guard frame.kind == .data else { continue }
        body += frame.payload
        if !frame.payload.isEmpty {
          send(window: frame.payload.count, on: 0)
          if !frame.endsStream { send(window: frame.payload.count, on: stream) }
        }
        if frame.endsStream { return body }
      }
    }

    /// Responds to each request until the connection ends.
    func serve(_ respond: (Frame) throws -> Void) throws {
      while true { try respond(nextRequest()) }
    }

    /// Reads bytes until the client ends the connection, and responds to nothing. Calls `pinged` after each piece of
    /// bytes if the client has sent a PING frame.
    func drain(pinged: () -> Void = {}) {
      let ping: [UInt8] = [0, 0, 8, Frame.Kind.ping.rawValue, 0]
      var received = buffer
      var piece = [UInt8](repeating: 0, count: 4096)
      while true {
        if received.indices.contains(where: { received[$0...].starts(with: ping) }) { pinged() }
        let count = recv(socket, &piece, piece.count, 0)
        guard count > 0 else { return }
        received += piece[..<count]
      }
    }

    private func bytes(_ count: Int) throws -> [UInt8] {
      while buffer.count < count {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let got = recv(socket, &piece, piece.count, 0)
        guard got > 0 else { throw SocketFault(call: "recv") }
        buffer += piece[..<got]
      }
      defer { buffer.removeFirst(count) }
      return Array(buffer[..<count])
    }

    /// Decodes a header section. The client's sections fit into one frame, without padding or priority.
    private func decode(_ frame: Frame) throws -> [(name: String, value: String)] {
      var fields: [(String, String)] = []
      var block = frame.payload
      if frame.flags & 0x20 != 0 { block.removeFirst(5) }
      var start = 0
      while true {
        var field = nghttp2_nv()
        var flags: Int32 = 0
        let used = block.withUnsafeMutableBufferPointer { block in
          nghttp2_hd_inflate_hd2(
            inflater, &field, &flags, block.baseAddress.map { UnsafePointer($0 + start) }, block.count - start, 1)
        }
        guard used >= 0 else { throw SocketFault(call: "inflate") }
        start += used
        if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
          fields.append((Self.text(field.name, field.namelen), Self.text(field.value, field.valuelen)))
        }
        if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
        if used == 0, flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) == 0 { throw SocketFault(call: "inflate") }
      }
      nghttp2_hd_inflate_end_headers(inflater)
      return fields
    }

    private static func text(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> String {
      String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    // MARK: - Writing

    /// Sends bytes. Errors are ignored: the client may have closed the connection.
    func send(raw bytes: [UInt8]) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }

    func send(_ kind: Frame.Kind, flags: UInt8 = 0, _ stream: Int, _ payload: [UInt8]) {
      send(raw: Self.frame(kind.rawValue, flags: flags, stream, payload))
    }

    static func frame(_ kind: UInt8, flags: UInt8, _ stream: Int, _ payload: [UInt8]) -> [UInt8] {
      Array(number(payload.count)[1...]) + [kind, flags] + number(stream) + payload
    }

    static func number(_ value: Int) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    func send(settings: [(id: Int, value: Int)]) {
      send(.settings, 0, settings.flatMap { Array(Self.number($0.id)[2...]) + Self.number($0.value) })
    }

    func send(window: Int, on stream: Int) { send(.windowUpdate, stream, Self.number(window)) }
    func reset(_ stream: Int, _ code: Int) { send(.reset, stream, Self.number(code)) }
    func goAway(last: Int, _ code: Int = 0) { send(.goAway, 0, Self.number(last) + Self.number(code)) }

    /// Sends a header section, in several frames if it is long.
    func headers(_ stream: Int, _ fields: [(String, String)], ends: Bool = false) {
      send(raw: Self.headers(stream, fields, ends: ends))
    }

    static func headers(_ stream: Int, _ fields: [(String, String)], ends: Bool = false) -> [UInt8] {
      let block = fields.flatMap { literal($0.0, $0.1) }
      var frames: [UInt8] = []
      var start = 0
      repeat {
        let end = min(start + 16_384, block.count)
        let flags: UInt8 = (end == block.count ? 4 : 0) | (start == 0 && ends ? 1 : 0)
        frames += frame(start == 0 ? 1 : 9, flags: flags, stream, Array(block[start..<end]))
        start = end
      } while start < block.count
      return frames
    }

    /// Sends content in frames of at most 16 KiB. The caller respects the windows.
    func data(_ stream: Int, _ bytes: [UInt8], ends: Bool = false) {
      var start = 0
      repeat {
        let end = min(start + 16_384, bytes.count)
        send(.data, flags: ends && end == bytes.count ? 1 : 0, stream, Array(bytes[start..<end]))
        start = end
      } while start < bytes.count
    }

    /// Sends a response with content.
    func respond(_ stream: Int, _ text: String, _ fields: [(String, String)] = []) {
      send(raw: Self.response(stream, text, fields))
    }

    /// The frames of a response with content.
    static func response(_ stream: Int, _ text: String, _ fields: [(String, String)] = []) -> [UInt8] {
      headers(stream, [(":status", "200")] + fields) + frame(0, flags: 1, stream, Array(text.utf8))
    }

    /// A field as a literal without Huffman coding and without indexing (RFC 7541 section 6.2.2).
    static func literal(_ name: String, _ value: String) -> [UInt8] { [0] + string(name) + string(value) }

    private static func string(_ text: String) -> [UInt8] {
      let bytes = Array(text.utf8)
      guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
      var length: [UInt8] = [127]
      var rest = bytes.count - 127
      while rest >= 128 {
        length.append(UInt8(rest & 127) | 128)
        rest >>= 7
      }
      return length + [UInt8(rest)] + bytes
    }
  }
#endif
