# SPDX-License-Identifier: Apache-2.0
"""Manifests, whole and of known fields alone, by the models of the Kubernetes client for Python."""

import copy
import datetime
import re

import kubernetes.client
import yaml

# Younger than the models of Debian 12 (Kubernetes 1.22): of which object, and as what.
YOUNG = {("V1Volume", "image"): {"reference": "str", "pullPolicy": "str"},
         ("V1SecurityContext", "appArmorProfile"): {"type": "str", "localhostProfile": "str"},
         ("V1PodSecurityContext", "appArmorProfile"): {"type": "str", "localhostProfile": "str"}}
# Of the Prometheus Operator, whose objects the client does not know: what ours use of it.
SECRET_KEY = {"name": "str", "key": "str"}
POD_MONITOR = {
    "apiVersion": "str", "kind": "str", "metadata": "V1ObjectMeta", "spec": {
        "selector": "V1LabelSelector", "podMetricsEndpoints": [{
            "port": "str", "path": "str", "scheme": "str", "interval": "str", "honorLabels": "bool",
            "relabelings": [{"sourceLabels": "list[str]", "targetLabel": "str", "regex": "str",
                             "replacement": "str", "action": "str"}],
            "tlsConfig": {"serverName": "str", "ca": {"secret": SECRET_KEY}}}]}}
PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float), "object": object,
         "datetime": (str, datetime.datetime)}


def read(path):
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def of_kind(kind, documents):
    return next(document for document in documents if document["kind"] == kind)


def model_of(document):
    """V1DaemonSet of apps/v1, DaemonSet."""
    version = document["apiVersion"].rpartition("/")[2]
    return version[0].upper() + version[1:] + document["kind"]


def faults(value, kind, where):
    """What is wrong with a value as one of that kind: a list of sentences."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{where}: a list is needed"]
        return [fault for i, item in enumerate(value)
                for fault in faults(item, kind[0], f"{where}[{i}]")]
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return [f"{where}: a mapping is needed"]
        found = [f"{where}.{key}: unknown" for key in value if key not in kind]
        return found + [fault for key in value if key in kind
                        for fault in faults(value[key], kind[key], f"{where}.{key}")]
    inner = re.fullmatch(r"(list|dict)[\[(](?:str, )?(\w+)[\])]", kind)
    if inner and inner[1] == "list":
        if not isinstance(value, list):
            return [f"{where}: a list is needed"]
        return [fault for i, item in enumerate(value)
                for fault in faults(item, inner[2], f"{where}[{i}]")]
    if inner:
        if not isinstance(value, dict):
            return [f"{where}: a mapping is needed"]
        return [fault for key, item in value.items()
                for fault in faults(item, inner[2], f"{where}.{key}")]
    if kind in PLAIN:
        is_other = isinstance(value, bool) and kind in ("int", "float")
        return [] if isinstance(value, PLAIN[kind]) and not is_other else [f"{where}: {value!r} is no {kind}"]
    return faults_of_model(value, kind, where)


def faults_of_model(value, kind, where):
    model = getattr(kubernetes.client, kind, None)
    if model is None:
        return [f"{where}: there is no {kind}"]
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no {kind}"]
    names = {json_name: name for name, json_name in model.attribute_map.items()}
    found, given = [], {}
    for key, item in value.items():
        if key in names:
            given[names[key]] = item
            found += faults(item, model.openapi_types[names[key]], f"{where}.{key}")
        elif (kind, key) in YOUNG:
            found += faults(item, YOUNG[kind, key], f"{where}.{key}")
        else:
            found.append(f"{where}.{key}: unknown")
    try:
        model(**given)  # refuses what lacks a field or has one out of its range
    except ValueError as error:
        found.append(f"{where}: {error}")
    return found


def faults_of(document):
    if document["kind"] == "PodMonitor":
        return faults(document, POD_MONITOR, "PodMonitor")
    return faults_of_model(document, model_of(document), document.get("kind", "?"))


# ---- overlays ----

def merge(base, patch):
    """A strategic merge as far as the overlays use it: lists of named things by name or place."""
    if isinstance(patch, dict) and isinstance(base, dict):
        merged = copy.copy(base)
        for key, value in patch.items():
            if value is None:
                merged.pop(key, None)
            else:
                merged[key] = merge(merged[key], value) if key in merged else value
        return merged
    key = next((k for k in ("mountPath", "name") if isinstance(patch, list) and patch and
                all(isinstance(item, dict) and k in item for item in patch)), None)
    if not key or not isinstance(base, list):
        return patch
    rest = {item[key]: item for item in patch}
    merged = [merge(item, rest.pop(item.get(key))) if item.get(key) in rest else item
              for item in base]
    return merged + list(rest.values())


def add_at(document, path, value):
    """The operation `add` of JSON Patch: behind a list's end, or under a key. Returns the result."""
    key, _, rest = path.lstrip("/").partition("/")
    if isinstance(document, list):
        if key == "-":
            return [*document, value]
        return [add_at(item, rest, value) if number == int(key) else item
                for number, item in enumerate(document)]
    return {**document, key: add_at(document[key], rest, value) if rest else value}


def patched(document, patch, target):
    """The document with a patch of either kind, if the patch is for it."""
    if isinstance(patch, dict):
        target = {"kind": patch["kind"], "name": patch["metadata"]["name"]}
    if (document["kind"], document["metadata"]["name"]) != (target["kind"], target["name"]):
        return document
    if isinstance(patch, dict):
        return merge(document, patch)
    for operation in patch:
        assert operation["op"] == "add", operation
        document = add_at(document, operation["path"], operation["value"])
    return document


def config_map(folder, entry):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": entry["name"], "namespace": entry["namespace"]},
            "data": {name: (folder / name).read_text() for name in entry["files"]}}


def build(folder, documents=()):
    """What kubectl kustomize makes of a folder, as far as ours need; documents: what a component
    stands on. Names of ConfigMaps are left as they are."""
    rules = yaml.safe_load((folder / "kustomization.yaml").read_text())
    documents = list(documents)
    for name in rules.get("resources", []):
        path = folder / name
        documents += build(path) if path.is_dir() else read(path)
    documents += [config_map(folder, entry) for entry in rules.get("configMapGenerator", [])]
    for name in rules.get("components", []):
        documents = build(folder / name, documents)
    for entry in rules.get("patches", []):
        for patch in read(folder / entry["path"]):
            documents = [patched(d, patch, entry.get("target")) for d in documents]
    for entry in rules.get("images", []):
        for document in documents:
            for container in containers(document):
                if container["image"] == entry["name"]:
                    container["image"] += ":" + entry["newTag"]
    return documents


def containers(document):
    template = document.get("spec", {}).get("template", {})
    return template.get("spec", {}).get("containers", [])
