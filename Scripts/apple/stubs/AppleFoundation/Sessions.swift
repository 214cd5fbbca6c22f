@_exported public import CoreFoundation
@_exported public import Foundation
@_exported public import FoundationXML
public import Security

// The URL loading system of Foundation, as far as the sources use it. The rest of Foundation is that of Linux, which
// this module exports. In the SDK the classes are `NS_SWIFT_SENDABLE`, which the pages do not show.

/// https://developer.apple.com/documentation/foundation/urlrequest
public struct URLRequest: Sendable, Hashable {
  /// https://developer.apple.com/documentation/foundation/nsurlrequest/cachepolicy-swift.enum
  public enum CachePolicy: UInt, Sendable { case reloadIgnoringLocalCacheData = 1 }
  /// https://developer.apple.com/documentation/foundation/urlrequest/init(url:cachepolicy:timeoutinterval:)
  public init(url: URL, cachePolicy: CachePolicy = .reloadIgnoringLocalCacheData, timeoutInterval: TimeInterval = 60) {}
  /// https://developer.apple.com/documentation/foundation/urlrequest/url
  public var url: URL?
  /// https://developer.apple.com/documentation/foundation/urlrequest/httpmethod
  public var httpMethod: String?
  /// https://developer.apple.com/documentation/foundation/urlrequest/httpbody
  public var httpBody: Data?
  /// https://developer.apple.com/documentation/foundation/urlrequest/httpshouldhandlecookies
  public var httpShouldHandleCookies = true
  /// https://developer.apple.com/documentation/foundation/urlrequest/allowscellularaccess
  public var allowsCellularAccess = true
  /// https://developer.apple.com/documentation/foundation/urlrequest/allowsexpensivenetworkaccess
  public var allowsExpensiveNetworkAccess = true
  /// https://developer.apple.com/documentation/foundation/urlrequest/setvalue(_:forhttpheaderfield:)
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}

/// https://developer.apple.com/documentation/foundation/urlresponse
open class URLResponse: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlresponse/url
  open var url: URL? { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/httpurlresponse
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/httpurlresponse/statuscode
  open var statusCode: Int { fatalError() }
  /// https://developer.apple.com/documentation/foundation/httpurlresponse/allheaderfields
  open var allHeaderFields: [AnyHashable: Any] { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlcache
open class URLCache: NSObject, @unchecked Sendable {}
/// https://developer.apple.com/documentation/foundation/httpcookiestorage
open class HTTPCookieStorage: NSObject, @unchecked Sendable {}
/// https://developer.apple.com/documentation/foundation/urlcredentialstorage
open class URLCredentialStorage: NSObject, @unchecked Sendable {}
/// https://developer.apple.com/documentation/foundation/httpcookie/acceptpolicy
public enum HTTPCookieAcceptPolicy: UInt, Sendable { case always, never, onlyFromMainDocumentDomain }

/// https://developer.apple.com/documentation/foundation/urlsessionconfiguration
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/default
  open class var `default`: URLSessionConfiguration { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/ephemeral
  open class var ephemeral: URLSessionConfiguration { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/background(withidentifier:)
  open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/requestcachepolicy
  open var requestCachePolicy: URLRequest.CachePolicy = .reloadIgnoringLocalCacheData
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/timeoutintervalforrequest
  open var timeoutIntervalForRequest: TimeInterval = 60
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/timeoutintervalforresource
  open var timeoutIntervalForResource: TimeInterval = 604_800
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/waitsforconnectivity
  open var waitsForConnectivity = false
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/isdiscretionary
  open var isDiscretionary = false
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/sessionsendslaunchevents
  open var sessionSendsLaunchEvents = false
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/connectionproxydictionary
  open var connectionProxyDictionary: [AnyHashable: Any]?
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/tlsminimumsupportedprotocolversion
  open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t = .TLSv12
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/httpshouldsetcookies
  open var httpShouldSetCookies = true
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/httpcookieacceptpolicy
  open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .always
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/httpcookiestorage
  open var httpCookieStorage: HTTPCookieStorage?
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/httpmaximumconnectionsperhost
  open var httpMaximumConnectionsPerHost = 6
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/urlcredentialstorage
  open var urlCredentialStorage: URLCredentialStorage?
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/urlcache
  open var urlCache: URLCache?
}

/// https://developer.apple.com/documentation/foundation/httpcookie
open class HTTPCookie: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/httpcookie/acceptpolicy
  public typealias AcceptPolicy = HTTPCookieAcceptPolicy
}

/// https://developer.apple.com/documentation/foundation/urlsession
open class URLSession: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlsession/authchallengedisposition
  public enum AuthChallengeDisposition: Int, Sendable {
    case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
  }
  /// https://developer.apple.com/documentation/foundation/urlsession/responsedisposition
  public enum ResponseDisposition: Int, Sendable { case cancel, allow, becomeDownload, becomeStream }

  /// https://developer.apple.com/documentation/foundation/urlsession/shared
  open class var shared: URLSession { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsession/data(for:delegate:)
  public func data(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    fatalError()
  }
  /// https://developer.apple.com/documentation/foundation/urlsession/init(configuration:delegate:delegatequeue:)
  public init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?
  ) {}
  /// https://developer.apple.com/documentation/foundation/urlsession/finishtasksandinvalidate()
  open func finishTasksAndInvalidate() {}
  /// https://developer.apple.com/documentation/foundation/urlsession/getalltasks(completionhandler:)
  open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {}
  /// https://developer.apple.com/documentation/foundation/urlsession/alltasks
  open var allTasks: [URLSessionTask] { get async { fatalError() } }
  /// https://developer.apple.com/documentation/foundation/urlsession
  open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsession/uploadtask(with:from:)
  open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsession/uploadtask(with:fromfile:)
  open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsession
  open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlsessiontask
open class URLSessionTask: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/defaultpriority
  public class var defaultPriority: Float { 0.5 }
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/lowpriority
  public class var lowPriority: Float { 0.25 }
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/highpriority
  public class var highPriority: Float { 0.75 }
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/priority
  open var priority: Float = 0.5
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/taskidentifier
  open var taskIdentifier: Int { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/taskdescription
  open var taskDescription: String?
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/originalrequest
  open var originalRequest: URLRequest? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/response
  open var response: URLResponse? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/cancel()
  open func cancel() {}
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/suspend()
  open func suspend() {}
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/resume()
  open func resume() {}
}

/// https://developer.apple.com/documentation/foundation/urlsessiondatatask
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
/// https://developer.apple.com/documentation/foundation/urlsessionuploadtask
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
/// https://developer.apple.com/documentation/foundation/urlsessiondownloadtask
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}

/// https://developer.apple.com/documentation/foundation/urlsessiontaskmetrics
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlsessiontaskmetrics/transactionmetrics
  open var transactionMetrics: [URLSessionTaskTransactionMetrics] { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/fetchstartdate
  open var fetchStartDate: Date? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/domainlookupenddate
  open var domainLookupEndDate: Date? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/connectenddate
  open var connectEndDate: Date? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/secureconnectionenddate
  open var secureConnectionEndDate: Date? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/requeststartdate
  open var requestStartDate: Date? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/responsestartdate
  open var responseStartDate: Date? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/responseenddate
  open var responseEndDate: Date? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/networkprotocolname
  open var networkProtocolName: String? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/isreusedconnection
  open var isReusedConnection: Bool { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/remoteaddress
  open var remoteAddress: String? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/remoteport
  open var remotePort: Int? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/countofrequestheaderbytessent
  open var countOfRequestHeaderBytesSent: Int64 { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/countofrequestbodybytessent
  open var countOfRequestBodyBytesSent: Int64 { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/countofresponseheaderbytesreceived
  open var countOfResponseHeaderBytesReceived: Int64 { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics/countofresponsebodybytesreceived
  open var countOfResponseBodyBytesReceived: Int64 { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nsurlauthenticationmethodservertrust
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
/// https://developer.apple.com/documentation/foundation/nsurlauthenticationmethodclientcertificate
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"

/// https://developer.apple.com/documentation/foundation/urlauthenticationchallenge
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlauthenticationchallenge/protectionspace
  open var protectionSpace: URLProtectionSpace { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlprotectionspace
open class URLProtectionSpace: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlprotectionspace/host
  open var host: String { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlprotectionspace/authenticationmethod
  open var authenticationMethod: String { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlprotectionspace/servertrust
  open var serverTrust: SecTrust? { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlcredential
open class URLCredential: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlcredential/persistence-swift.enum
  public enum Persistence: UInt, Sendable { case none, forSession, permanent, synchronizable }
  /// https://developer.apple.com/documentation/foundation/urlcredential/init(trust:)
  public init(trust: SecTrust) {}
  /// https://developer.apple.com/documentation/foundation/urlcredential/init(identity:certificates:persistence:)
  public init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) {}
}
