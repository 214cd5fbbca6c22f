#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP

  /// Reads libcurl's measurements of a transfer. libcurl reports zero for phases that a reused connection skips.
  enum CurlMetrics {
    static func read(_ easy: UnsafeMutableRawPointer, of transfer: CurlTransfer) -> ExchangeMetrics {
      var metrics = connectionMetrics(easy, of: transfer)
      metrics.total = transfer.submitted.duration(to: .now)
      metrics.bytesSent = Int64(errand_easy_long(easy, CURLINFO_REQUEST_SIZE)) + (transfer.upload?.sent ?? 0)
      metrics.bytesReceived = transfer.parser.totalBytes + (transfer.body?.wireBytes ?? 0)
      let head = transfer.parser.head
      if head.status > 0 { metrics.version = head.version }
      if head.status >= 200 { metrics.status = head.status }
      return metrics
    }

    /// Reads the metrics of the connection and the first byte that are known now.
    static func connectionMetrics(_ easy: UnsafeMutableRawPointer, of transfer: CurlTransfer) -> ExchangeMetrics {
      var metrics = ExchangeMetrics()
      let queue = transfer.submitted.duration(to: transfer.started)
      metrics.queue = queue
      metrics.isConnectionReused = transfer.isReused
      if transfer.isReused != true {
        metrics.nameLookup = phase(easy, CURLINFO_NAMELOOKUP_TIME_T, after: queue)
        metrics.connect = phase(easy, CURLINFO_CONNECT_TIME_T, after: queue)
        metrics.tls = phase(easy, CURLINFO_APPCONNECT_TIME_T, after: queue)
      }
      metrics.firstByte = transfer.firstByte.map { transfer.submitted.duration(to: $0) }
      if let connection = transfer.connection {
        metrics.remoteAddress = connection.address
        metrics.remotePort = Int(connection.port)
      } else if transfer.hasConnected {
        metrics.remoteAddress = transfer.loop.configuration.unixSocket
      }
      return metrics
    }

    private static func phase(_ easy: UnsafeMutableRawPointer, _ info: CURLINFO, after queue: Duration) -> Duration? {
      let microseconds = errand_easy_offset(easy, info)
      return microseconds > 0 ? queue + .microseconds(microseconds) : nil
    }
  }
#endif
