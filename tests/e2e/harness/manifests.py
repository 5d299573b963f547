# SPDX-License-Identifier: Apache-2.0
"""Manifests, whole and of known fields alone, by the models of the Kubernetes client for Python."""

import copy
import datetime
import re

import kubernetes.client
import yaml

# Younger than the models of Debian 12 (Kubernetes 1.22): of which object, and as what.
YOUNG = {("V1SecurityContext", "appArmorProfile"): {"type": "str", "localhostProfile": "str"},
         ("V1PodSecurityContext", "appArmorProfile"): {"type": "str", "localhostProfile": "str"}}
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
    if isinstance(kind, dict):
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


def build(folder):
    """What kubectl kustomize makes of a folder, as far as ours need."""
    rules = yaml.safe_load((folder / "kustomization.yaml").read_text())
    documents = []
    for name in rules["resources"]:
        path = folder / name
        documents += build(path) if path.is_dir() else read(path)
    for entry in rules.get("patches", []):
        for patch in read(folder / entry["path"]):
            documents = [merge(d, patch) if (d["kind"], d["metadata"]["name"]) ==
                         (patch["kind"], patch["metadata"]["name"]) else d for d in documents]
    for entry in rules.get("images", []):
        for document in documents:
            for container in containers(document):
                if container["image"] == entry["name"]:
                    container["image"] += ":" + entry["newTag"]
    return documents


def containers(document):
    template = document.get("spec", {}).get("template", {})
    return template.get("spec", {}).get("containers", [])
