@_exported public import Darwin
public import Foundation

// The types of Core Foundation that the sources use. A type that is bridged to a class of Foundation is that class here.

/// https://developer.apple.com/documentation/corefoundation/cftyperef
public typealias CFTypeRef = AnyObject
/// https://developer.apple.com/documentation/corefoundation/cfdata
public typealias CFData = NSData
/// https://developer.apple.com/documentation/corefoundation/cfstring
public typealias CFString = NSString
/// https://developer.apple.com/documentation/corefoundation/cfarray
public typealias CFArray = NSArray
/// https://developer.apple.com/documentation/corefoundation/cfdictionary
public typealias CFDictionary = NSDictionary
/// https://developer.apple.com/documentation/corefoundation/cferror
public final class CFError: Error, @unchecked Sendable {}
/// https://developer.apple.com/documentation/corefoundation/cftypeid
public typealias CFTypeID = UInt
/// https://developer.apple.com/documentation/corefoundation/cfgettypeid(_:)
public func CFGetTypeID(_ object: CFTypeRef!) -> CFTypeID { fatalError() }
/// https://developer.apple.com/documentation/security/security-framework-result-codes
public typealias OSStatus = Int32
