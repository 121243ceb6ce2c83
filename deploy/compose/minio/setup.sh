#!/bin/sh
# Makes the bucket and the one user who may use it, and nothing else of the store. May run again.
set -eu
secret() { cat "/run/secrets/$1"; }

until mc alias set store http://minio:9000 "$(secret minio-root-user)" "$(secret minio-root-password)" >/dev/null 2>&1; do sleep 1; done
mc mb --ignore-existing store/harrier
mc admin policy create store harrier-artifacts /setup/policy.json
user="$(secret s3-access-key)"
mc admin user add store "$user" "$(secret s3-secret-key)"
# attaching what is attached already is an error of mc
mc admin policy entities store --user "$user" | grep -q harrier-artifacts || mc admin policy attach store harrier-artifacts --user "$user"
