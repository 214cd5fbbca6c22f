#!/usr/bin/env bash
# Creates an authority, and valid and invalid certificates of the TLS servers: certificates.sh FOLDER
set -euo pipefail
mkdir -p "$1"
cd "$1"

LOCAL='subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1'
KEY=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)

# A self-signed certificate: name, extensions…
self_signed() {
  local name=$1
  shift
  openssl req -x509 "${KEY[@]}" -keyout "$name.key" -out "$name.pem" -days 30 -subj "/CN=Errand test $name" "$@" \
    2>>openssl.log
}

# A certificate of the authority: name, subjectAltName line, dates… Its common name is SUBJECT if that is set.
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
# Some versions of openssl refuse an end before the start, and have options for both dates instead.
signed expired "$LOCAL" -days -1 \
  || signed expired "$LOCAL" -not_before 20200101000000Z -not_after 20200102000000Z
# Only `openssl ca` supports a start in the future in every version.
not_yet_valid() {
  openssl req "${KEY[@]}" -keyout not-yet-valid.key -out not-yet-valid.csr -subj '/CN=Errand test not-yet-valid' \
    2>>openssl.log
  : >index.txt
  printf '[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\n' >ca.cnf
  printf 'policy=any\nx509_extensions=extra\n[any]\ncommonName=supplied\n[extra]\n%s\n' "$LOCAL" >>ca.cnf
  openssl ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key -in not-yet-valid.csr -out not-yet-valid.pem \
    -startdate 20990101000000Z -enddate 20991231000000Z 2>>openssl.log
}

# Client certificates: one of the authority, with a plain key, an encrypted key and as PKCS #12, one of an unknown
# authority, and one with a weak key. Two files have an encryption that OpenSSL 3 supports only with its provider for old
# algorithms.
clients() {
  signed client '' -days 30
  # Servers check that a certificate is for clients.
  printf 'extendedKeyUsage=clientAuth\n' >client.ext
  openssl x509 -req -in client.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile client.ext -out client.pem \
    -days 30 2>>openssl.log
  openssl pkey -in client.key -aes256 -passout pass:opensesame -out client-locked.key 2>>openssl.log
  cat client.pem client-locked.key >client-whole.pem
  openssl pkcs12 -export -in client.pem -inkey client.key -passout pass:opensesame -out client.p12 2>>openssl.log
  openssl pkcs12 -export -legacy -in client.pem -inkey client.key -passout pass:opensesame -out client-old.p12 \
    2>>openssl.log
  openssl pkcs8 -topk8 -v1 PBE-SHA1-RC2-40 -provider legacy -provider default -in client.key -passout pass:opensesame \
    -out client-old.key 2>>openssl.log
  self_signed stranger
  openssl req -x509 -newkey rsa:512 -nodes -keyout weak.key -out weak.pem -days 30 -subj '/CN=Errand test weak' \
    2>>openssl.log
}

# The pin of a certificate: the hash of its public key.
pin() {
  openssl x509 -in "$1.pem" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary \
    | openssl base64 >"$1.pin"
}

not_yet_valid
clients
self_signed self-signed -addext "$LOCAL"
for name in server expired wrong-host self-signed ca; do pin "$name"; done
