"""Checks that each public type is shown by `import Errand` or deliberately not.

    check-exports.py GRAPHS      GRAPHS is a folder with the symbol graphs of the modules

`Sources/Errand/Exports.swift` lists the types whose names apps write, including causes of errors. Of some types below,
apps write only values, with a leading dot or as literals. The other types below are for transports, certificates,
resolvers, sources and sinks of bodies, cache stores, body formats and inspectors of metrics, of stored responses and of
the flight record, which import the module itself. A new public type must be in one of the two lists.

Prints how many declarations `import Errand` shows. The members of the types below are not counted, although they stay
visible as members. This includes members in extensions that another module declares, such as `TransportChoice.trusting`
of the module `Errand`.
"""

import json
import pathlib
import re
import sys

EXPORTS = pathlib.Path(__file__).resolve().parent.parent / "Sources/Errand/Exports.swift"
NOT_SHOWN = {
    "ErrandHTTP": """
        AddressKind AddressPolicy BackgroundEnd BackgroundEvent BackgroundOrder BackgroundSession BodyDisposition
        BodyExpansion BodyFlow BodyRead BodySink BodySource BodySourceFailure CallState CertificateAuthority
        CertificateSource ClientCertificate CookieJars CookieRule Exchange ExchangeMetrics HTTPVersionPolicy MediaType
        MonotonicInstant NameResolver PublicSuffixes ResponseLimits ServerCache SharedTimers StatusRule TLSVersion
        TimerToken Timers Transport TransportCapabilities TransportChoice TransportFailure TransportProxy
        TransportRegistry Wakeup
    """,
    "ErrandCore": """
        AccountChange ArgumentFormat BodyFormat BodyLimit CacheChoice CacheMiss CacheReadMode CacheReport CacheSettings
        CacheTargets CallDecision CallbackExecutor ChecksumHash DigestAlgorithm DrainReport FlightCall
        FlightExchange FlightRecord FlightRecording FormatFailure GroupKind GroupMember HeaderConvertible HedgeRule
        IndicatorChoice Interceptors JoinRule Netrc PropertyListFormat ReconnectRule RepeatRule RequestAdditions
        ResponseFormat RetryMetrics RetryReason ServerSettings StepValues TimeLimit WireMessage
    """,
    "ErrandCache": """
        BodySealing CacheEntry CacheEntryHead CacheEntryLabel CacheEntryRecord CacheEntryState CacheFolderFilter
        CacheGroup CacheKey CacheListing CacheLookup CacheSelection CacheSize CacheStatistics CacheStore Digest
        MemoryStore RemovalState SQLiteStore TieredStore VaryingField WallTime
    """,
    "ErrandJSON": "JSONError JSONPath JSONPlace",
}
WHOLE = ("Errand", "ErrandCompression", "ErrandTransfer")
TYPES = ("swift.class", "swift.enum", "swift.protocol", "swift.struct", "swift.typealias")


def symbols(graphs, module):
    for file in [graphs / f"{module}.symbols.json", *graphs.glob(f"{module}@*.symbols.json")]:
        yield from json.loads(file.read_text())["symbols"]


def main():
    graphs, problems, count = pathlib.Path(sys.argv[1]), [], 0
    hidden = {name for names in NOT_SHOWN.values() for name in names.split()}
    shown = re.findall(r"import \w+ (Errand\w+)\.(\w+)", EXPORTS.read_text())
    for module, names in NOT_SHOWN.items():
        exported, kept = {name for owner, name in shown if owner == module}, set(names.split())
        declared = set()
        for symbol in symbols(graphs, module):
            path = symbol["pathComponents"]
            if len(path) == 1 and symbol["kind"]["identifier"] in TYPES:
                declared.add(path[0])
            count += path[0] not in hidden
        problems += [f"{module}.{name} is in neither list" for name in sorted(declared - exported - kept)]
        problems += [f"{module}.{name} is listed but is no public type" for name in sorted((exported | kept) - declared)]
        problems += [f"{module}.{name} is in both lists" for name in sorted(exported & kept)]
    count += sum(symbol["pathComponents"][0] not in hidden for module in WHOLE for symbol in symbols(graphs, module))
    for problem in problems:
        print(f"exports: {problem}: see Sources/Errand/Exports.swift and Scripts/check-exports.py", file=sys.stderr)
    print(f"exports: `import Errand` shows {count} declarations")
    sys.exit(1 if problems else 0)


main()
