{{/* The one template of all Deployments. */}}
{{- define "harrier.deployment" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $values := index $root.Values.services $service -}}
{{- $full := include "harrier.fullname" $root -}}
{{- $graceMs := add ($values.drainMs | int64) ($values.drainTransfersMs | int64) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $full }}-{{ $service }}
  labels:
    {{- include "harrier.labels" . | nindent 4 }}
spec:
  {{- if not $values.autoscaling.enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels:
      {{- include "harrier.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "harrier.labels" . | nindent 8 }}
      {{- with $values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ $full }}-{{ $service }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      # both times of the drain, and 10 s for what is written last
      terminationGracePeriodSeconds: {{ add (div (add $graceMs 999) 1000) 10 }}
      securityContext:
        {{- include "harrier.podSecurity" . | nindent 8 }}
      {{- with $root.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: {{ $root.Values.topologySpread.topologyKey }}
          whenUnsatisfiable: {{ $root.Values.topologySpread.whenUnsatisfiable }}
          labelSelector:
            matchLabels:
              {{- include "harrier.selector" . | nindent 14 }}
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: {{ $root.Values.topologySpread.whenUnsatisfiable }}
          labelSelector:
            matchLabels:
              {{- include "harrier.selector" . | nindent 14 }}
      containers:
        - name: {{ $service }}
          image: {{ include "harrier.image" . }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          securityContext:
            {{- include "harrier.containerSecurity" . | nindent 12 }}
          env:
            {{- include "harrier.env" . | nindent 12 }}
          ports:
            - { name: http, containerPort: 8080 }
            - { name: metrics, containerPort: 9100 }
            {{- if not (has $service (list "gateway" "dmf")) }}
            - { name: grpc, containerPort: 9090 }
            {{- end }}
            {{- if and (eq $service "gateway") $root.Values.gatewayTls.enabled }}
            - { name: https, containerPort: 8443 }
            {{- end }}
          # a first start may migrate for a quarter of an hour
          startupProbe:
            httpGet: { path: /livez, port: metrics }
            periodSeconds: 2
            failureThreshold: 450
          livenessProbe:
            httpGet: { path: /livez, port: metrics }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            {{- if eq $service "gateway" }}
            httpGet: { path: /readyz/self, port: http }
            {{- else }}
            httpGet: { path: /readyz, port: metrics }
            {{- end }}
            periodSeconds: 2
            timeoutSeconds: 3
            failureThreshold: 2
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          volumeMounts:
            {{- include "harrier.mounts" . | nindent 12 }}
      volumes:
        {{- include "harrier.volumes" . | nindent 8 }}
      {{- with $values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
{{- end -}}
