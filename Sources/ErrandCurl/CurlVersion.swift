#if os(Linux)
  import CErrandCurl

  /// The version of libcurl, and the features that are safe with this version.
  ///
  /// The package is built against the headers of one version and may run with the library of another version. The
  /// features therefore depend on the version that the running library reports.
  package struct CurlVersion: Comparable, CustomStringConvertible {
    let major: UInt32
    let minor: UInt32
    let patch: UInt32

    init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    /// Parses libcurl's version number, which contains 8 bits each for major, minor and patch.
    init(number: UInt32) { self.init(number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF) }

    /// The version of the library that this process runs with.
    package static let running = CurlVersion(number: errand_curl_version_number())

    /// Whether an easy handle may be reused for a second exchange.
    ///
    /// Before 8.1.1 libcurl keeps a pointer to the last response header of the first exchange, although it has freed
    /// that header. If the next response begins with a folded line, libcurl writes to the freed memory (curl issue
    /// 11101).
    var allowsHandleReuse: Bool { self >= CurlVersion(8, 1, 1) }

    /// Whether the transport offers HTTP/2 to servers by default.
    ///
    /// Older versions of libcurl lose or delay responses:
    /// - Up to 8.1.2, uploads are affected (curl issue 11426).
    /// - Up to 8.13, paused streams are affected (curl issue 16955). 8.16 fails transfers that pause (curl issue
    ///   19334).
    /// - A complete response is lost if the request body is still being sent (curl issue 22984, fixed in September
    ///   2026).
    ///
    /// 8.24.0 is the first release that certainly contains all of these corrections. This project has not tested the
    /// corrections.
    var offersHTTP2: Bool { self >= CurlVersion(8, 24, 0) }

    /// Whether a request with a body may go over HTTP/2.
    ///
    /// In libcurl before 8.23.0, a server that refuses the stream during an upload makes libcurl use a handle that
    /// libcurl has freed (CVE-2026-92392).
    package var sendsBodiesOverHTTP2: Bool { self >= CurlVersion(8, 23, 0) }

    /// Whether libcurl caches a failed name lookup for half a minute, even if the name server was only too slow (curl
    /// pull request 22302).
    var keepsFailedLookups: Bool { self >= CurlVersion(8, 16, 0) && self < CurlVersion(8, 22, 0) }

    /// Whether libcurl has a result code of its own, 100, for data that exceeds its limits. Older versions report such
    /// data as a lack of memory.
    var reportsOwnLimits: Bool { self >= CurlVersion(8, 6, 0) }

    /// The reason why no request is sent with this version of libcurl. Nil if the version can be used.
    var refusal: String? {
      switch self {
      case ..<CurlVersion(7, 88, 0): "libcurl \(self) is too old; version 7.88.0 or later is needed"
      case CurlVersion(8, 11, 1):
        "libcurl 8.11.1 closes files of other threads (CVE-2025-0665); another version is needed"
      case CurlVersion(8, 14, 0): "libcurl 8.14.0 loses exchanges if many run at once; another version is needed"
      default: nil
      }
    }

    package var description: String { "\(major).\(minor).\(patch)" }

    package static func < (one: CurlVersion, other: CurlVersion) -> Bool {
      (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
    }
  }

  /// The easy handles that are not in use, if libcurl allows their reuse. Creating a handle takes more than a quarter
  /// of the time of a small request.
  struct CurlHandlePool {
    private static let most = 128

    private let allowsReuse: Bool
    private var handles: [CurlHandle] = []

    init(allowsReuse: Bool) { self.allowsReuse = allowsReuse }

    mutating func take() -> CurlHandle? { handles.popLast() }

    /// Stores a handle, or frees it if reuse is not allowed. Connections belong to the multi handle and stay open.
    mutating func give(_ handle: CurlHandle) {
      if allowsReuse, handles.count < Self.most { handles.append(handle) }
    }

    mutating func removeAll() { handles = [] }
  }
#endif
