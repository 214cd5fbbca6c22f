#!/usr/bin/env bash
# Makes an authority and the certificates of the TLS servers, good and bad: certificates.sh FOLDER
set -euo pipefail
mkdir -p "$1"
cd "$1"

LOCAL='subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1'
KEY=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)

# A certificate that signs itself: name, extensions…
self_signed() {
  local name=$1
  shift
  openssl req -x509 "${KEY[@]}" -keyout "$name.key" -out "$name.pem" -days 30 -subj "/CN=Errand test $name" "$@" \
    2>>openssl.log
}

# A certificate of our authority: name, subjectAltName line, dates… Its common name is SUBJECT, if that is set.
signed() {
  local name=$1 alternatives=$2 subject=${SUBJECT:-Errand test $1}
  shift 2
  openssl req "${KEY[@]}" -keyout "$name.key" -out "$name.csr" -subj "/CN=$subject" 2>>openssl.log
  printf '%s\nextendedKeyUsage=serverAuth\n' "$alternatives" >"$name.ext"
  openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -extfile "$name.ext" \
    -out "$name.pem" "$@" 2>>openssl.log
}

self_signed ca -addext keyUsage=keyCertSign,cRLSign
signed server "$LOCAL" -days 30
SUBJECT=localhost signed common-name '' -days 30
signed wrong-host 'subjectAltName=DNS:elsewhere.example' -days 30
# Some versions of openssl refuse an end before the start, and know options for both instead.
signed expired "$LOCAL" -days -1 \
  || signed expired "$LOCAL" -not_before 20200101000000Z -not_after 20200102000000Z
self_signed self-signed -addext "$LOCAL"
