from datetime import datetime
from zoneinfo import ZoneInfo

USUAL_ZONE = "UTC"


def main(args):
    name = args.get("time_zone") or USUAL_ZONE
    try:
        zone = ZoneInfo(name)
    except Exception:
        raise ValueError(f"There is no time zone {name}. Zones are named like Europe/Berlin.") from None
    given = args.get("time")
    try:
        moment = datetime.fromisoformat(given) if given else datetime.now(zone)
    except ValueError:
        raise ValueError(f"{given} is no time such as 2026-07-01T12:00:00+02:00.") from None
    # A time without an offset is one of the zone.
    try:
        moment = moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)
    except OverflowError:
        raise ValueError(f"{given} is outside of the years 1 to 9999 there.") from None
    return {
        "time": moment.isoformat(timespec="seconds"),
        "time_zone": name,
        "weekday": moment.strftime("%A"),
        "week": moment.isocalendar().week,
        "unix_seconds": int(moment.timestamp()),
    }
