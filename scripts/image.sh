#!/usr/bin/env bash
# The image of the Dockerfile, built and run by buildah without a daemon. As root.
#
#   image.sh build BASE_SCRIPT     builds it over a stand-in for its base image that BASE_SCRIPT makes (with the path of a
#                                  Node binary as its argument), and prints the name of a container for TEST_IMAGE
#   image.sh remove CONTAINER      removes the container and the image
set -euo pipefail
cd "$(dirname "$0")/.."
buildah() { command buildah --storage-driver vfs "$@"; }
case ${1:-} in
build)
  bash "$2" "$(realpath node_modules/node/bin/node)" >&2
  buildah bud --isolation chroot --network host --pull-never --tag generic-extractor-test . >&2
  buildah from --pull-never generic-extractor-test
  ;;
remove)
  buildah rm "$2" >/dev/null
  buildah rmi generic-extractor-test >/dev/null
  ;;
*)
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
  ;;
esac
