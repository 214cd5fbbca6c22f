@_exported public import ErrandCache
@_exported public import ErrandCompression
@_exported public import ErrandCore
@_exported public import ErrandJSON

#if canImport(CErrandCurl)
  @_exported public import ErrandCurl
#endif
