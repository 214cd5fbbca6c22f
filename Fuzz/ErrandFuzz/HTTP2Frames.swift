import CNGHTTP2

/// The bytes that an HTTP/2 server sends after the client's preface, and what they contain. The frames are read by
/// simple rules, independently of libnghttp2. The rules find all that a client may use, and perhaps more.
struct HTTP2Frames {
  /// The maximum number of bytes that are made from one input.
  private static let most = 1280 << 10

  private(set) var bytes: [UInt8] = []
  /// The content of the DATA frames of each stream, without padding.
  private(set) var content: [Int: [UInt8]] = [:]
  /// The number of bytes of padding of each stream, which count in the windows like content.
  private(set) var padding: [Int: Int] = [:]
  /// The streams with a frame that may end the server's side.
  private(set) var ended: Set<Int> = []
  /// True if a frame may guarantee that the server has not processed a request: GOAWAY or RST_STREAM.
  private(set) var mayRefuse = false

  /// Takes the bytes as they are.
  init(raw bytes: UnsafeRawBufferPointer) {
    self.bytes = Array(bytes)
    read()
  }

  /// Builds frames from records, so that a change of one byte does not shift all later frames. Each record is a byte for
  /// the type, the flags, the stream and the length of the payload, and then the payload. Types from 0xE0 build
  /// long DATA frames, and types from 0xF0 repeat the last frame.
  init(records: UnsafeRawBufferPointer) {
    append(UInt8(NGHTTP2_SETTINGS.rawValue), 0, 0, [])
    var last = 0..<bytes.count
    var place = 0
    while place + 4 <= records.count, bytes.count < Self.most {
      let (kind, flags, stream) = (records[place], records[place + 1], Int(records[place + 2]))
      let length = Int(records[place + 3])
      place += 4
      let start = bytes.count
      switch kind {
      case 0xF0...:
        let count = min(Int(flags & 0x0F) << 8 | length, (Self.most - bytes.count) / last.count)
        let frame = Array(bytes[last])
        for _ in 0..<count { bytes += frame }
      case 0xE0...:
        let filler = (0..<(length * 64)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        append(UInt8(NGHTTP2_DATA.rawValue), flags, stream, filler[...])
        last = start..<bytes.count
      default:
        let end = min(place + length, records.count)
        append(kind, flags, stream, Array(records[place..<end])[...])
        place = end
        last = start..<bytes.count
      }
    }
    read()
  }

  private mutating func append(_ kind: UInt8, _ flags: UInt8, _ stream: Int, _ payload: ArraySlice<UInt8>) {
    let count = payload.count
    bytes += [UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), kind, flags]
    bytes += [0, 0, 0, UInt8(stream)]
    bytes += payload
  }

  private mutating func read() {
    for frame in Self.split(bytes, from: 0) {
      switch UInt32(frame.kind) {
      case NGHTTP2_DATA.rawValue:
        note(frame)
        if frame.flags & 1 != 0 { ended.insert(frame.stream) }
      case NGHTTP2_HEADERS.rawValue: if frame.flags & 1 != 0 { ended.insert(frame.stream) }
      case NGHTTP2_RST_STREAM.rawValue, NGHTTP2_GOAWAY.rawValue: mayRefuse = true
      default: break
      }
    }
  }

  private mutating func note(_ frame: Frame) {
    var range = frame.range
    if frame.flags & 8 != 0, let count = frame.payload.first.map(Int.init) {
      padding[frame.stream, default: 0] += 1 + count
      let start = range.lowerBound + 1
      range = start..<max(start, min(range.upperBound, frame.announcedEnd - count))
    }
    content[frame.stream, default: []] += bytes[range]
  }

  /// A frame, of which the end may be missing.
  struct Frame {
    let kind: UInt8
    let flags: UInt8
    let stream: Int
    /// The place of the payload that is present.
    let range: Range<Int>
    /// The end of the payload according to the header.
    let announcedEnd: Int
    let payload: ArraySlice<UInt8>
    /// The number in the last four bytes: a size of a window or an error code.
    var number: Int { payload.suffix(4).reduce(0) { $0 << 8 | Int($1) } }
  }

  /// Splits bytes into frames.
  static func split(_ bytes: [UInt8], from first: Int) -> [Frame] {
    var frames: [Frame] = []
    var start = first
    while start + 9 <= bytes.count {
      let length = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
      let stream = bytes[(start + 5)..<(start + 9)].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
      let end = start + 9 + length
      let range = (start + 9)..<min(end, bytes.count)
      frames.append(
        Frame(
          kind: bytes[start + 3], flags: bytes[start + 4], stream: stream, range: range, announcedEnd: end,
          payload: bytes[range]))
      start = end
    }
    return frames
  }
}
