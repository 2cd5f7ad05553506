"""Look for published vulnerabilities of the packages that are installed; fail only if there is one.

Where no advisory service can be reached, one line says so.
"""

import json
import subprocess
import sys
from typing import Any

SERVICES = ("pypi", "osv")
TIMEOUT_S = 600


def main(options: list[str]) -> int:
    """Ask the services in turn until one knows the packages; `options` go to pip-audit."""
    reasons = []
    for service in SERVICES:
        report, said = _ask(service, options)
        audited = [one for one in report if "skip_reason" not in one]
        if not audited:
            reasons.append(f"{service}: {said}")
            continue
        lines, status = verdict(report)
        print("\n".join(lines))
        return status
    print(f"audit: skipped, no advisory service can be reached ({'; '.join(reasons)})")
    return 0


def verdict(report: list[dict[str, Any]]) -> tuple[list[str], int]:
    """Print each vulnerability and the number of packages looked up; return 1 if there is one."""
    found = [
        f"audit: {one['name']} {one['version']}: {fault['id']}: {_remedy(fault)}"
        for one in report
        for fault in one.get("vulns", ())
    ]
    audited = sum("skip_reason" not in one for one in report)
    unknown = [one["name"] for one in report if "skip_reason" in one and one["name"] != "virl"]
    more = f", {len(unknown)} not known to the service: {', '.join(unknown)}" if unknown else ""
    return [*found, f"audit: {audited} packages, {len(found)} known vulnerabilities{more}"], 1 if found else 0


def _remedy(fault: dict[str, Any]) -> str:
    versions = fault.get("fix_versions") or []
    return f"upgrade to {' or '.join(versions)}" if versions else "no version without it is published yet"


def _ask(service: str, options: list[str]) -> tuple[list[dict[str, Any]], str]:
    """Return the report of pip-audit on each package; nothing, and its last words, if it could not ask."""
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--format",
        "json",
        "--skip-editable",
        "--progress-spinner",
        "off",
    ]
    try:
        done = subprocess.run(
            [*command, "--vulnerability-service", service, *options],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        report: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return [], "no answer in time"
    except ValueError:
        return [], (done.stderr.strip().splitlines() or ["no report"])[-1][:120]
    return report, "it knows none of the packages"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
