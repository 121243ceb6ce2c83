"""Ten operations of the management interface by the generated client; prints what came of them as JSON.

Arguments: address of the gateway, user and password, a name that nobody else has.
"""

import base64
import io
import json
import sys

from harrier_client import AuthenticatedClient
from harrier_client.api.actions import actions_list
from harrier_client.api.artifacts import artifacts_upload
from harrier_client.api.distribution_sets import distribution_sets_assign_targets, distribution_sets_create
from harrier_client.api.rollouts import rollouts_create
from harrier_client.api.software_modules import software_modules_create
from harrier_client.api.targets import targets_create, targets_import_csv, targets_list, targets_update
from harrier_client.api.userinfo import userinfo_get
from harrier_client.models import (
    ActionDetailStatus,
    ArtifactUpload,
    DistributionSetCreate,
    ForceType,
    IdReference,
    RolloutCreate,
    SoftwareModuleCreate,
    TargetAssignment,
    TargetCreate,
    TargetUpdate,
)
from harrier_client.types import File

base_url, user, password, name = sys.argv[1:5]
token = base64.b64encode(f"{user}:{password}".encode()).decode()
client = AuthenticatedClient(base_url=base_url, token=token, prefix="Basic", raise_on_unexpected_status=True)
statuses = []


def done(answer):
    """What an operation answered, which must be a success."""
    statuses.append(int(answer.status_code))
    if answer.status_code >= 300:
        raise SystemExit(f"{answer.status_code}: {answer.content!r}")
    return answer.parsed


info = done(userinfo_get.sync_detailed(client=client))
[module] = done(
    software_modules_create.sync_detailed(client=client, body=[SoftwareModuleCreate(name=name, version="1.0", type_="os")])
)
content = b"hello, device\n"
upload = ArtifactUpload(file=File(payload=io.BytesIO(content), file_name="image.bin"))
artifact = done(artifacts_upload.sync_detailed(module.id, client=client, body=upload))
[made] = done(
    distribution_sets_create.sync_detailed(
        client=client,
        body=[DistributionSetCreate(name=name, version="1.0", type_="os", modules=[IdReference(id=module.id)])],
    )
)
[target] = done(targets_create.sync_detailed(client=client, body=[TargetCreate(controller_id=name, name="by Python")]))
changed = done(targets_update.sync_detailed(name, client=client, body=TargetUpdate(description="changed")))
csv = File(payload=f"controllerId,name\n{name}-csv,by CSV\n".encode())
imported = done(targets_import_csv.sync_detailed(client=client, body=csv))
page = done(targets_list.sync_detailed(client=client, q=f"controllerid=={name}*", sort="controllerid:ASC", limit=1))
assigned = done(
    distribution_sets_assign_targets.sync_detailed(
        made.id, client=client, body=[TargetAssignment(id=name, type_=ForceType.SOFT, weight=7)]
    )
)
actions = done(actions_list.sync_detailed(client=client, q=f"target.controllerid=={name}"))
[action] = actions.content
rollout = done(
    rollouts_create.sync_detailed(
        client=client,
        body=RolloutCreate(
            name=name, distribution_set_id=made.id, target_filter_query=f"controllerid=={name}*", amount_groups=1
        ),
    )
)

print(
    json.dumps(
        {
            "statuses": statuses,
            "tenant": info.tenant,
            "size": artifact.size,
            "complete": made.complete,
            "description": changed.description,
            "created": imported.created,
            "found": [page.total, page.size, page.content[0].controller_id],
            "assigned": assigned.assigned,
            "running": action.detail_status is ActionDetailStatus.RUNNING,
            "forceType": action.force_type.value,
            "rollout": rollout.name,
            "targetId": target.controller_id,
        }
    )
)
