// What `import Errand` shows: the names that apps write to declare and send requests and to use their results, in
// signatures, conformances, stored properties and casts. The types of the properties that requests declare are in this
// list. So are causes of errors that an app of any transport may want to tell apart, because a cast needs the name.
//
// The other names are reached by importing `ErrandHTTP`, `ErrandCache`, `ErrandJSON` or `ErrandCore`. They are for
// transports, certificates and resolvers, for sources and sinks of bodies, for cache stores and body formats, and for
// inspectors of metrics and of the flight record. Of some of these types, apps write only values, with a leading dot or
// as literals, such as the `TimeLimit` in `Timeouts(total: .seconds(5))`. A name that is not in this list stays visible
// as a member: an app can read `step.decision` without the name of its type. An app that configures a transport itself
// imports its module: `ErrandEngine` and `ErrandCurl` on Linux, `ErrandURLSession` on Apple platforms.

@_exported public import ErrandCompression
@_exported public import ErrandTransfer

// MARK: - JSON

@_exported public import struct ErrandJSON.JSONDecoding
@_exported public import struct ErrandJSON.JSONDecodingError
@_exported public import struct ErrandJSON.JSONEncoding
@_exported public import struct ErrandJSON.JSONEncodingError
@_exported public import protocol ErrandJSON.JSONReadable
@_exported public import struct ErrandJSON.JSONShape
@_exported public import struct ErrandJSON.JSONShapeMismatch
@_exported public import struct ErrandJSON.JSONValue

// MARK: - Messages, cookies and settings of transports

@_exported public import enum ErrandHTTP.CallPriority
@_exported public import struct ErrandHTTP.Cookie
@_exported public import class ErrandHTTP.CookieJar
@_exported public import enum ErrandHTTP.CookieUse
@_exported public import struct ErrandHTTP.HTTPBody
@_exported public import enum ErrandHTTP.HTTPDate
@_exported public import struct ErrandHTTP.HTTPField
@_exported public import struct ErrandHTTP.HTTPFieldName
@_exported public import struct ErrandHTTP.HTTPFields
@_exported public import struct ErrandHTTP.HTTPMethod
@_exported public import struct ErrandHTTP.HTTPRequest
@_exported public import struct ErrandHTTP.HTTPResponse
@_exported public import struct ErrandHTTP.HTTPURL
@_exported public import struct ErrandHTTP.NetworkWish
@_exported public import struct ErrandHTTP.PublicKeyPins
@_exported public import struct ErrandHTTP.ResponseHead
@_exported public import enum ErrandHTTP.ResponseOrigin
@_exported public import struct ErrandHTTP.TransferProgress

// MARK: - Requests, calls and clients

@_exported public import class ErrandCore.APIClient
@_exported public import struct ErrandCore.APIError
@_exported public import class ErrandCore.APIManager
@_exported public import protocol ErrandCore.APIManagerDelegate
@_exported public import protocol ErrandCore.APIManaging
@_exported public import protocol ErrandCore.APIRequest
@_exported public import struct ErrandCore.APIResponse
@_exported public import protocol ErrandCore.Accessory
@_exported public import struct ErrandCore.AccountCredential
@_exported public import struct ErrandCore.AdmissionLimits
@_exported public import protocol ErrandCore.ArgumentConvertible
@_exported public import struct ErrandCore.ArgumentStyle
@_exported public import enum ErrandCore.ArgumentValue
@_exported public import struct ErrandCore.Arguments
@_exported public import class ErrandCore.Bandwidth
@_exported public import struct ErrandCore.Batch
@_exported public import struct ErrandCore.BreakerRule
@_exported public import struct ErrandCore.CacheKeyRule
@_exported public import struct ErrandCore.CachePolicy
@_exported public import protocol ErrandCore.CachedCallDelegate
@_exported public import class ErrandCore.Call
@_exported public import class ErrandCore.CallContext
@_exported public import protocol ErrandCore.CallDelegate
@_exported public import protocol ErrandCore.CallGroup
@_exported public import struct ErrandCore.CallInfo
@_exported public import struct ErrandCore.CallMetrics
@_exported public import struct ErrandCore.CallOptions
@_exported public import class ErrandCore.CallOwner
@_exported public import protocol ErrandCore.CallProgressDelegate
@_exported public import protocol ErrandCore.CallSender
@_exported public import struct ErrandCore.Chain
@_exported public import struct ErrandCore.Checksum
@_exported public import struct ErrandCore.CircuitOpen
@_exported public import struct ErrandCore.ClientConfiguration
@_exported public import enum ErrandCore.Credential
@_exported public import protocol ErrandCore.CredentialKeeper
@_exported public import protocol ErrandCore.CredentialProvider
@_exported public import class ErrandCore.CredentialStore
@_exported public import struct ErrandCore.Delivery
@_exported public import struct ErrandCore.DigestAuthentication
@_exported public import struct ErrandCore.Download
@_exported public import struct ErrandCore.DownloadedFile
@_exported public import struct ErrandCore.Envelope
@_exported public import struct ErrandCore.EventStream
@_exported public import struct ErrandCore.FixedCredential
@_exported public import struct ErrandCore.FormValues
@_exported public import struct ErrandCore.Formats
@_exported public import class ErrandCore.GroupCall
@_exported public import protocol ErrandCore.GroupDelegate
@_exported public import struct ErrandCore.GroupInfo
@_exported public import struct ErrandCore.GroupOptions
@_exported public import struct ErrandCore.GroupOutcome
@_exported public import struct ErrandCore.GroupProgress
@_exported public import protocol ErrandCore.GroupProgressDelegate
@_exported public import struct ErrandCore.GroupReport
@_exported public import struct ErrandCore.GroupScope
@_exported public import protocol ErrandCore.GroupStep
@_exported public import struct ErrandCore.HostCacheRule
@_exported public import struct ErrandCore.HostRate
@_exported public import enum ErrandCore.Idempotency
@_exported public import protocol ErrandCore.Interceptor
@_exported public import struct ErrandCore.KeptAccounts
@_exported public import class ErrandCore.LoadingIndicator
@_exported public import struct ErrandCore.LogLine
@_exported public import struct ErrandCore.Multipart
@_exported public import struct ErrandCore.Next
@_exported public import struct ErrandCore.Nothing
@_exported public import struct ErrandCore.OneOff
@_exported public import struct ErrandCore.Outcome
@_exported public import struct ErrandCore.Overlap
@_exported public import class ErrandCore.PageManager
@_exported public import protocol ErrandCore.PagedRequest
@_exported public import struct ErrandCore.ProblemDetails
@_exported public import class ErrandCore.ProgressStream
@_exported public import struct ErrandCore.RedirectPolicy
@_exported public import struct ErrandCore.Reform
@_exported public import protocol ErrandCore.Reformer
@_exported public import protocol ErrandCore.RefreshingProvider
@_exported public import struct ErrandCore.RequestBody
@_exported public import enum ErrandCore.RequestCredential
@_exported public import struct ErrandCore.RequestFamily
@_exported public import struct ErrandCore.RequestHeaders
@_exported public import struct ErrandCore.RequestPath
@_exported public import enum ErrandCore.RequestServer
@_exported public import struct ErrandCore.ResponseDecoder
@_exported public import struct ErrandCore.ResponseStream
@_exported public import struct ErrandCore.ResponseValidation
@_exported public import struct ErrandCore.RetryPolicy
@_exported public import class ErrandCore.RunningChain
@_exported public import struct ErrandCore.ServerEnvironment
@_exported public import struct ErrandCore.ServerSentEvent
@_exported public import struct ErrandCore.Signing
@_exported public import struct ErrandCore.StepChain
@_exported public import struct ErrandCore.Timeouts
@_exported public import struct ErrandCore.URLFilter

// MARK: - The cache

@_exported public import class ErrandCache.ResponseCache
