#if os(Linux)
  import CNGHTTP2
  import ErrandHTTP

  /// The client side of one HTTP/2 connection in libnghttp2: frames, header compression and flow control. It performs
  /// no I/O. Received events go to an ``HTTP2Connection``.
  ///
  /// libnghttp2 does not check the messages: ``HTTP2StreamMachine`` does.
  final class HTTP2Session {
    /// The number of bytes that a server may send on one stream before the sink takes them.
    static let streamWindow = 1 << 20
    /// The number of bytes that a server may send on all streams before the client has received them.
    static let connectionWindow: Int32 = 16 << 20
    /// The number of concurrent streams before the server has sent its settings (RFC 9113 section 6.5.2).
    static let initialStreams = 100
    /// The limit of libnghttp2 on CONTINUATION frames in a row. ``HTTP2FrameBudget`` has the limit that matters. The
    /// standard value is 8, and libnghttp2 counts a frame again each time its header of nine bytes continues in another
    /// piece, so a valid response that arrives in small pieces would fail.
    private static let mostContinuations = 10 * HTTP2FrameBudget.capacity / HTTP2FrameBudget.continuation
    /// The maximum size in bytes of the header section of a request.
    private static let largestRequestHead = 2 << 20

    private let session: OpaquePointer
    /// The size of a response's header section that the server was told to keep to.
    private var fieldBytes: Int

    /// Creates a session that passes events to `connection`, which must outlive the session. Returns nil if the system
    /// has no memory.
    init?(_ connection: HTTP2Connection, limits: ResponseLimits) {
      fieldBytes = max(Self.fieldBytes(limits), Self.fieldBytes(ResponseLimits()))
      var callbacks: OpaquePointer?
      var options: OpaquePointer?
      var session: OpaquePointer?
      defer {
        nghttp2_session_callbacks_del(callbacks)
        nghttp2_option_del(options)
      }
      guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&options) == 0 else { return nil }
      HTTP2Callbacks.set(callbacks)
      nghttp2_option_set_no_http_messaging(options, 1)
      nghttp2_option_set_no_auto_window_update(options, 1)
      nghttp2_option_set_no_closed_streams(options, 1)
      errand_set_most_continuations(options, Self.mostContinuations)
      nghttp2_option_set_peer_max_concurrent_streams(options, UInt32(Self.initialStreams))
      nghttp2_option_set_max_send_header_block_length(options, Self.largestRequestHead)
      // The connection outlives the session and is used only on the loop's thread.
      let owner = Unmanaged.passUnretained(connection).toOpaque()
      guard nghttp2_session_client_new2(&session, callbacks, owner, options) == 0, let session else { return nil }
      self.session = session
      sendSettings()
    }

    deinit { nghttp2_session_del(session) }

    /// The largest header section that limits allow, as HTTP/2 counts it: with 32 bytes for each field (RFC 9113
    /// section 6.5.2). The limits count the three bytes that separate a field from others over HTTP/1.1.
    private static func fieldBytes(_ limits: ResponseLimits) -> Int {
      min(limits.headBytes, 1 << 32) + (32 - 3) * min(limits.fieldCount, 1 << 32)
    }

    /// Tells the server if a request allows a larger header section than all requests before.
    func announce(_ limits: ResponseLimits) {
      guard case let bytes = Self.fieldBytes(limits), bytes > fieldBytes else { return }
      fieldBytes = bytes
      let setting = fieldSetting
      withUnsafePointer(to: setting) { _ = nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), $0, 1) }
    }

    private var fieldSetting: nghttp2_settings_entry {
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(clamping: fieldBytes))
    }

    private func sendSettings() {
      let settings = [
        nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
        nghttp2_settings_entry(
          settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(Self.streamWindow)),
        fieldSetting,
      ]
      nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
      nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Self.connectionWindow)
    }

    // MARK: - Requests

    /// Opens a stream with a request. Returns the number of the stream; nil if the session accepts no new stream.
    func submit(_ head: inout HTTP2RequestHead, hasBody: Bool) -> Int32? {
      var provider = nghttp2_data_provider()
      provider.read_callback = HTTP2Callbacks.readBody
      let stream = head.withList { list, count in
        withUnsafePointer(to: provider) { provider in
          nghttp2_submit_request(session, nil, list, count, hasBody ? provider : nil, nil)
        }
      }
      return stream > 0 ? stream : nil
    }

    /// Continues with the body of a request whose source has bytes again.
    func resumeBody(of stream: Int32) { nghttp2_session_resume_data(session, stream) }

    func reset(_ stream: Int32, code: nghttp2_error_code) {
      nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    func ping() { nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// Ends the connection: sends GOAWAY and accepts no further frames.
    func terminate(code: nghttp2_error_code) { nghttp2_session_terminate_session(session, code.rawValue) }

    // MARK: - Flow control

    /// Lets the server send as many bytes again on a stream.
    func returnWindow(of stream: Int32, _ count: Int) { nghttp2_session_consume_stream(session, stream, count) }

    /// Lets the server send as many bytes again on the connection.
    func returnConnectionWindow(_ count: Int) { nghttp2_session_consume_connection(session, count) }

    // MARK: - Bytes

    /// Interprets received bytes. Returns the error of libnghttp2 that makes the connection unusable; nil if there is
    /// no such error.
    func receive(_ bytes: UnsafeRawBufferPointer) -> String? {
      let count = nghttp2_session_mem_recv(
        session, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
      return count < 0 ? Self.text(Int32(clamping: count)) : nil
    }

    /// The next bytes to send; empty if there are none. They are valid until the next call of a method. Nil if the
    /// session has failed.
    func nextBytes() -> UnsafeRawBufferPointer? {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      return count < 0 ? nil : UnsafeRawBufferPointer(start: bytes, count: count)
    }

    /// True if the session is over: it neither expects nor sends bytes.
    var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    /// True if bytes must be sent.
    var wantsWrite: Bool { nghttp2_session_want_write(session) != 0 }

    /// The maximum number of concurrent streams that the server accepts.
    var mostStreams: Int {
      Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// The description of an error of libnghttp2.
    static func text(_ error: Int32) -> String { String(cString: nghttp2_strerror(error)) }

    /// The name of an error code of HTTP/2, such as `INTERNAL_ERROR`.
    static func name(of code: UInt32) -> String { String(cString: nghttp2_http2_strerror(code)) }
  }

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
