#if os(Linux)
  import CErrandCurl

  /// The version of libcurl, and what may be asked of it.
  ///
  /// The package is built against headers of one version and may run with the library of another, so decisions are made
  /// from the version that the running library reports.
  struct CurlVersion: Comparable, CustomStringConvertible {
    let major: UInt32
    let minor: UInt32
    let patch: UInt32

    init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    /// Reads libcurl's form: 8 bits each for major, minor and patch.
    init(number: UInt32) { self.init(number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF) }

    /// The version of the library that this process runs with.
    static let running = CurlVersion(number: errand_curl_version_number())

    /// Whether an easy handle may carry a second exchange.
    ///
    /// Before 8.1.1 libcurl keeps a pointer to the last response header of the former exchange, which it has freed. If
    /// the next response begins with a folded line, it writes there (curl issue 11101).
    var allowsHandleReuse: Bool { self >= CurlVersion(8, 1, 1) }

    /// Whether HTTP/2 is offered to servers unless the configuration says otherwise.
    ///
    /// Older versions lose responses and stall: uploads up to 8.1.2 (curl issue 11426), paused streams up to 8.13 (curl
    /// issue 16955), 8.16 fails transfers that pause (curl issue 19334), and a complete response is lost if the request
    /// body is still being sent (curl issue 22984, mended in September 2026). 8.24.0 is the first release that certainly
    /// comes after all of them; none of it was tried here.
    var offersHTTP2: Bool { self >= CurlVersion(8, 24, 0) }

    var description: String { "\(major).\(minor).\(patch)" }

    static func < (one: CurlVersion, other: CurlVersion) -> Bool {
      (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
    }
  }
#endif
