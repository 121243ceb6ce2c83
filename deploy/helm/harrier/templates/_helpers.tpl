{{- define "harrier.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The calls of each service by gRPC: packages/rpc/src/callers.ts, which a test compares. The gateway also forwards to all four by HTTP. */}}
{{- define "harrier.calls" -}}
gateway: [controller, management]
management: [controller, artifact-store, rollout-engine]
rollout-engine: [controller, management]
artifact-store: [controller, management]
controller: []
dmf: [controller]
{{- end -}}
{{- define "harrier.forwards" -}}
[controller, management, artifact-store, rollout-engine]
{{- end -}}

{{/* What each service reaches outside of the installation: members of networkPolicy.egress. */}}
{{- define "harrier.outside" -}}
gateway: [issuers]
management: [database, kafka, broker, webhooks]
rollout-engine: [database, kafka]
artifact-store: [database, objectStore]
controller: [database, kafka]
dmf: [broker]
{{- end -}}

{{- define "harrier.selector" -}}
app.kubernetes.io/name: harrier
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .service }}
{{- end -}}

{{- define "harrier.labels" -}}
{{ include "harrier.selector" . }}
app.kubernetes.io/part-of: harrier
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The image of a service: a digest counts alone, then the service's own tag, then that of all. */}}
{{- define "harrier.image" -}}
{{- $image := .root.Values.image -}}
{{- $own := (index .root.Values.services .service).image -}}
{{- $name := printf "%s/%s" $image.repository .service -}}
{{- if $image.registry -}}{{- $name = printf "%s/%s" $image.registry $name -}}{{- end -}}
{{- if and .migrate .root.Values.migrate.tag -}}{{ $name }}:{{ .root.Values.migrate.tag }}
{{- else if $own.digest -}}{{ $name }}@{{ $own.digest }}
{{- else -}}{{ $name }}:{{ $own.tag | default $image.tag | default .root.Chart.AppVersion }}{{- end -}}
{{- end -}}

{{- define "harrier.secretName" -}}
{{- (index .root.Values.services .service).secretName | default (printf "%s-%s" (include "harrier.fullname" .root) .service) -}}
{{- end -}}

{{/* The settings that are files from the service's Secret. */}}
{{- define "harrier.secretSettings" -}}
{{- $names := (index .root.Values.services .service).secretSettings -}}
{{- if and (eq .service "artifact-store") (eq .root.Values.storage.kind "s3") -}}
{{- $names = concat $names (list "HARRIER_S3_ACCESS_KEY" "HARRIER_S3_SECRET_KEY") -}}
{{- end -}}
{{- $names | uniq | toJson -}}
{{- end -}}

{{- define "harrier.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}
{{- define "harrier.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* The part of a setting's name: artifact-store -> ARTIFACT_STORE. */}}
{{- define "harrier.part" -}}{{ . | upper | replace "-" "_" }}{{- end -}}

{{/* The settings of a service that are no secrets, as a map from name to text: what the chart knows, over which `settings` go. */}}
{{- define "harrier.settings" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $values := index $root.Values.services $service -}}
{{- $full := include "harrier.fullname" $root -}}
{{- $settings := dict "HARRIER_HTTP_HOST" "0.0.0.0" "HARRIER_HTTP_PORT" "8080" "HARRIER_METRICS_PORT" "9100" "HARRIER_LOG_LEVEL" $root.Values.logLevel -}}
{{- $_ := set $settings "HARRIER_DRAIN_MS" ($values.drainMs | int64 | toString) -}}
{{- $_ := set $settings "HARRIER_DRAIN_TRANSFERS_MS" ($values.drainTransfersMs | int64 | toString) -}}
{{- range index (include "harrier.calls" $root | fromYaml) $service -}}
{{- $_ := set $settings (printf "HARRIER_%s_GRPC" (include "harrier.part" .)) (printf "%s-%s-grpc:9090" $full .) -}}
{{- end -}}
{{- if eq $service "gateway" -}}
{{- range include "harrier.forwards" $root | fromYamlArray -}}
{{- $scheme := ternary "http" "https" (eq $root.Values.mutualTls.mode "off") -}}
{{- $_ := set $settings (printf "HARRIER_%s_HTTP" (include "harrier.part" .)) (printf "%s://%s-%s:8080" $scheme $full .) -}}
{{- end -}}
{{- if $root.Values.gatewayTls.enabled -}}
{{- $_ := set $settings "HARRIER_HTTPS_PORT" "8443" -}}
{{- $_ := set $settings "HARRIER_HTTPS_CERT_FILE" "/run/harrier/https/tls.crt" -}}
{{- $_ := set $settings "HARRIER_HTTPS_KEY_FILE" "/run/harrier/https/tls.key" -}}
{{- if $root.Values.gatewayTls.clientCa -}}{{- $_ := set $settings "HARRIER_HTTPS_CLIENT_CA_FILE" "/run/harrier/https/ca.crt" -}}{{- end -}}
{{- end -}}
{{- else if ne $service "dmf" -}}
{{- $_ := set $settings "HARRIER_GRPC_PORT" "9090" -}}
{{- end -}}
{{- with $root.Values.tracing.otlpUrl -}}
{{- $_ := set $settings "HARRIER_OTLP_URL" . -}}
{{- if eq $service "gateway" -}}{{- $_ := set $settings "HARRIER_OTLP_RATIO" ($root.Values.tracing.ratio | toString) -}}{{- end -}}
{{- end -}}
{{- if and $root.Values.publicUrl (has $service (list "gateway" "dmf")) -}}{{- $_ := set $settings "HARRIER_PUBLIC_URL" $root.Values.publicUrl -}}{{- end -}}
{{- if and $root.Values.publicUrl (eq $service "management") -}}{{- $_ := set $settings "HARRIER_OAUTH_ISSUER" $root.Values.publicUrl -}}{{- end -}}
{{- if has $service (list "controller" "management" "rollout-engine") -}}
{{- $_ := set $settings "HARRIER_EVENT_DAYS" ($root.Values.eventDays | int64 | toString) -}}
{{- if $root.Values.kafkaBrokers -}}{{- $_ := set $settings "HARRIER_KAFKA_BROKERS" $root.Values.kafkaBrokers -}}{{- end -}}
{{- end -}}
{{- if eq $service "artifact-store" -}}
{{- $_ := set $settings "HARRIER_ARTIFACT_KEEP_DAYS" ($root.Values.storage.keepDays | int64 | toString) -}}
{{- if eq $root.Values.storage.kind "s3" -}}
{{- $_ := set $settings "HARRIER_S3_ENDPOINT" $root.Values.storage.s3.endpoint -}}
{{- $_ := set $settings "HARRIER_S3_BUCKET" $root.Values.storage.s3.bucket -}}
{{- with $root.Values.storage.s3.publicEndpoint -}}{{- $_ := set $settings "HARRIER_S3_PUBLIC_ENDPOINT" . -}}{{- end -}}
{{- else -}}
{{- $_ := set $settings "HARRIER_STORAGE_DIR" "/var/lib/harrier" -}}
{{- end -}}
{{- end -}}
{{- /* cert-manager makes certificates only after the Jobs, which open no connection to services */ -}}
{{- if and (ne $root.Values.mutualTls.mode "off") (not .migrate) -}}
{{- $_ := set $settings "HARRIER_TLS_CERT_FILE" "/run/harrier/tls/tls.crt" -}}
{{- $_ := set $settings "HARRIER_TLS_KEY_FILE" "/run/harrier/tls/tls.key" -}}
{{- $_ := set $settings "HARRIER_TLS_CA_FILE" "/run/harrier/tls/ca.crt" -}}
{{- end -}}
{{- range include "harrier.secretSettings" . | fromJsonArray -}}
{{- $_ := set $settings (printf "%s_FILE" .) (printf "/run/harrier/secrets/%s" .) -}}
{{- end -}}
{{- mustMergeOverwrite $settings $values.settings | toJson -}}
{{- end -}}

{{/* The containers' variables and volumes are the same where it serves and where it migrates. */}}
{{- define "harrier.env" -}}
- name: NODE_OPTIONS
  value: {{ (index .root.Values.services .service).nodeOptions | quote }}
{{- range $name, $value := include "harrier.settings" . | fromJson }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "harrier.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /run/harrier/secrets, readOnly: true }
{{- if ne .root.Values.mutualTls.mode "off" }}
- { name: tls, mountPath: /run/harrier/tls, readOnly: true }
{{- end }}
{{- if and (eq .service "gateway") .root.Values.gatewayTls.enabled }}
- { name: https, mountPath: /run/harrier/https, readOnly: true }
{{- end }}
{{- if and (eq .service "artifact-store") (eq .root.Values.storage.kind "directory") }}
- { name: artifacts, mountPath: /var/lib/harrier }
{{- end }}
{{- end -}}

{{- define "harrier.volumes" -}}
{{- $full := include "harrier.fullname" .root -}}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
- name: secrets
  secret:
    secretName: {{ include "harrier.secretName" . }}
    defaultMode: 0440
    items:
      {{- range include "harrier.secretSettings" . | fromJsonArray }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- if ne .root.Values.mutualTls.mode "off" }}
- name: tls
  secret: { secretName: {{ printf "%s-%s-tls" $full .service }}, defaultMode: 0440 }
{{- end }}
{{- if and (eq .service "gateway") .root.Values.gatewayTls.enabled }}
- name: https
  secret: { secretName: {{ required "gatewayTls.secretName" .root.Values.gatewayTls.secretName }}, defaultMode: 0440 }
{{- end }}
{{- if and (eq .service "artifact-store") (eq .root.Values.storage.kind "directory") }}
- name: artifacts
  persistentVolumeClaim: { claimName: {{ .root.Values.storage.directory.existingClaim | default (printf "%s-artifacts" $full) }} }
{{- end }}
{{- end -}}
