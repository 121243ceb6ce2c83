"""A device around the DDI client of the package rauc-hawkbit.

Takes one command a line (JSON) and answers with one line: {"answer": ...}, or {"error": ...} with what the client took for wrong.
The client talks to the server; which step is next is decided by who writes the commands. Links are taken apart as the package's own
broker between RAUC and the server does it (rauc_dbus_ddi_client.py).
"""
import asyncio
import json
import re
import sys

import aiohttp
from rauc_hawkbit.ddi.cancel_action import CancelStatusExecution, CancelStatusResult
from rauc_hawkbit.ddi.client import APIError, ConfigStatusExecution, ConfigStatusResult, DDIClient
from rauc_hawkbit.ddi.deployment_base import DeploymentStatusExecution, DeploymentStatusResult


class Device:
    def __init__(self, ddi):
        self.ddi = ddi

    async def poll(self):
        return await self.ddi()

    async def identify(self, attributes):
        await self.ddi.configData(ConfigStatusExecution.closed, ConfigStatusResult.success, **attributes)

    async def deployment(self, href):
        action_id, resource = re.search(r"/deploymentBase/(.+)\?c=(.+)$", href).groups()
        return await self.ddi.deploymentBase[action_id](resource)

    async def download(self, href, to):
        match = re.search("/softwaremodules/(.+)/artifacts/(.+)$", href)
        if match is None:
            return await self.ddi.get_binary(href, to)
        software_module, filename = match.groups()
        return await self.ddi.softwaremodules[software_module].artifacts[filename](to)

    async def feedback(self, action, execution, finished, details, progress):
        status = DeploymentStatusExecution[execution], DeploymentStatusResult[finished]
        await self.ddi.deploymentBase[action].feedback(*status, details, **progress)

    async def cancellation(self, href):
        (action_id,) = re.search("/cancelAction/(.+)$", href).groups()
        return await self.ddi.cancelAction[action_id]()

    async def answer_cancellation(self, stop, execution, finished, details):
        status = CancelStatusExecution[execution], CancelStatusResult[finished]
        await self.ddi.cancelAction[stop].feedback(*status, status_details=details)


async def main():
    settings = json.loads(sys.argv[1])
    async with aiohttp.ClientSession() as session:
        args = settings["host"], False, settings["token"], settings["tenant"], settings["controllerId"]
        device = Device(DDIClient(session, *args))
        while line := await asyncio.to_thread(sys.stdin.readline):
            command = json.loads(line)
            try:
                told = {"answer": await getattr(device, command.pop("do"))(**command)}
            except APIError as error:
                told = {"error": str(error)}
            print(json.dumps(told), flush=True)


asyncio.run(main())
