#if os(Linux)
  import CNGHTTP2

  /// The C functions that libnghttp2 calls. Each function only finds its connection and passes the event on.
  enum HTTP2Callbacks {
    static func set(_ callbacks: OpaquePointer?) {
      nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, owner in
        guard let header, let connection = connection(owner) else { return failed }
        return connection.beganFrame(header.pointee) ? 0 : failed
      }
      nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, owner in
        guard let frame, let connection = connection(owner) else { return failed }
        connection.beganHeaders(frame.pointee.hd.stream_id)
        return 0
      }
      nghttp2_session_callbacks_set_on_header_callback(callbacks) {
        _, frame, name, nameCount, value, valueCount, _, owner in
        guard let frame, let connection = connection(owner) else { return failed }
        connection.receivedField(
          frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: name, count: nameCount),
          UnsafeRawBufferPointer(start: value, count: valueCount))
        return 0
      }
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, owner in
        guard let connection = connection(owner) else { return failed }
        connection.receivedContent(stream, UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
      }
      nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
        guard let frame, let connection = connection(owner) else { return failed }
        connection.receivedFrame(frame.pointee)
        return 0
      }
      nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, _, error, owner in
        connection(owner)?.receivedInvalidFrame(error)
        return 0
      }
      nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, error, owner in
        guard let frame, let connection = connection(owner) else { return failed }
        connection.notSent(frame.pointee.hd, error: error)
        return 0
      }
      nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
        connection(owner)?.closedStream(stream, code: code)
        return 0
      }
    }

    /// Reads the next bytes of a request body.
    static let readBody: nghttp2_data_source_read_callback = { _, stream, buffer, count, flags, _, owner in
      guard let buffer, let flags, let connection = connection(owner) else { return Int(failed) }
      switch connection.readBody(of: stream, into: UnsafeMutableRawBufferPointer(start: buffer, count: count)) {
      case .later: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
      case .bytes(let count, let isLast):
        if isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
      }
    }
  }

  /// The result of a callback that ends the session.
  private let failed = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

  /// The connection of a session. libnghttp2 passes the pointer that the session was created with.
  private func connection(_ owner: UnsafeMutableRawPointer?) -> HTTP2Connection? {
    owner.map { Unmanaged<HTTP2Connection>.fromOpaque($0).takeUnretainedValue() }
  }
#endif
