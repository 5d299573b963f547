{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- define "fgcollect.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- /* By which kubectl fgcollect knows a collector: the same whatever the release is called. */ -}}
{{- define "fgcollect.selector" -}}
app.kubernetes.io/name: fgcollect
app.kubernetes.io/component: collector
{{- end -}}

{{- define "fgcollect.labels" -}}
app.kubernetes.io/name: fgcollect
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "fgcollect.serverName" -}}
{{- .Values.metrics.tls.serverName | default (printf "%s.%s.svc" (include "fgcollect.name" .) .Release.Namespace) -}}
{{- end -}}

{{- /* What cannot go together. */ -}}
{{- define "fgcollect.check" -}}
{{- if and .Values.store.enabled .Values.graphs.enabled (eq .Values.store.path .Values.graphs.path) -}}
{{- fail "store.path and graphs.path are the same directory: give graphs.path another one" -}}
{{- end -}}
{{- if and .Values.metrics.podMonitor.enabled (not .Values.metrics.enabled) -}}
{{- fail "metrics.podMonitor.enabled needs metrics.enabled: there is nothing to ask" -}}
{{- end -}}
{{- if and .Values.metrics.tls.enabled (not .Values.metrics.enabled) -}}
{{- fail "metrics.tls.enabled needs metrics.enabled: there is nothing to ask" -}}
{{- end -}}
{{- if and .Values.push.enabled (not .Values.push.targets) -}}
{{- fail "push.enabled needs push.targets" -}}
{{- end -}}
{{- end -}}

{{- define "fgcollect.args" -}}
- --watch
- --symbol-cache={{ .Values.symbolCache }}
{{- with .Values.store }}{{ if .enabled }}
- --store={{ .path }}
- --store-age={{ .age }}
{{- with .bytes }}
- --store-bytes={{ . }}
{{- end }}{{ end }}{{ end }}
{{- with .Values.graphs }}{{ if .enabled }}
- --output={{ .path }}
- --period={{ .period }}
- --keep={{ .keep }}
- --keep-bytes={{ .keepBytes }}
{{- end }}{{ end }}
{{- with .Values.push }}{{ if .enabled }}
- --push-config=/etc/fgcollect/push/push.yaml
- --push-relabel=/etc/fgcollect/push/relabel.yaml
- --push-spool=/var/lib/fgcollect-push
- --push-spool-bytes={{ int .spool.mebibytes }}M
- --push-spool-age={{ .spool.age }}
{{- with .interval }}
- --push-interval={{ . }}
{{- end }}
{{- range $key, $value := .labels }}
- {{ printf "--push-label=%s=%s" $key $value | quote }}
{{- end }}{{ end }}{{ end }}
{{- if .Values.store.enabled }}
- --http=127.0.0.1:{{ int .Values.metrics.port }}
{{- end }}
{{- if .Values.metrics.enabled }}
- "--http=[$(POD_IP)]:{{ int .Values.metrics.port }}"
{{- with .Values.metrics.tls }}{{ if .enabled }}
- --http-cert=/etc/fgcollect/http/tls.crt
- --http-key=/etc/fgcollect/http/tls.key
{{- if .token }}
- --http-token-file=/etc/fgcollect/http/token
{{- end }}{{ end }}{{ end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}
