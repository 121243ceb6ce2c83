import type { SoftwareModuleView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ask, change, r, server } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import device from "../device/device.module.css";
import { commands, states, software as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { bytes } from "../ui/format.ts";
import { Card, Page } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { EditModule } from "./edit-software.tsx";
import { ModuleMetadata } from "./metadata.tsx";
import { ModuleUse } from "./module-use.tsx";
import { ModuleState } from "./state.tsx";
import { Uploads } from "./uploads.tsx";

const route = getRouteApi("/in/software/modules/$moduleId");

/** One module and its files. */
export function ModulePage() {
  const { moduleId } = route.useParams();
  const navigate = route.useNavigate();
  const params = { softwareModuleId: moduleId };
  const { data, error, refetch } = useQuery(ask(r.softwareModules.get, { params }));
  const { data: files } = useQuery(ask(r.artifacts.list, { params }));
  const lacking = useLacking(r.softwareModules.delete);
  const lacksUpload = useLacking(r.artifactUploads.open);
  if (data === undefined) return error === null ? <Skeleton lines={8} /> : <Failure alone error={error} retry={() => void refetch()} />;
  const name = `${data.name} ${data.version}`;
  const remove = async () => {
    await change(r.softwareModules.delete, { params });
    await navigate({ to: "/software", search: { tab: "modules" } });
    await invalidate("softwareModules");
  };
  return (
    <Page
      title={name}
      api={{ row: r.softwareModules.get, params, command: commands.of("module", "get", String(data.id)) }}
      trail={
        <Link to="/software" search={{ tab: "modules" }}>
          {t.title}
        </Link>
      }
      beside={<ModuleState {...data} files={files?.length} />}
      sub={data.description}
      actions={
        <>
          <EditModule moduleId={data.id} />
          <Confirm
            look="danger"
            why={lacking && states.missing(lacking)}
            trigger={t.delete}
            title={t.deleteTitle(name)}
            text={t.deleteText}
            button={t.delete}
            run={remove}
          />
        </>
      }
    >
      <div className={device["columns"]}>
        <div className={device["stack"]}>
          <Uploads moduleId={data.id} why={data.locked ? t.lockedFiles : lacksUpload && states.missing(lacksUpload)} />
          <Files module={data} />
          <ModuleMetadata moduleId={data.id} />
        </div>
        <ModuleUse module={data} />
      </div>
    </Page>
  );
}

function Files({ module }: { module: SoftwareModuleView }) {
  const params = { softwareModuleId: module.id };
  const { data, error, refetch } = useQuery(ask(r.artifacts.list, { params }));
  const lacking = useLacking(r.artifacts.delete);
  const lacksDownload = useLacking(r.artifacts.download);
  const why = module.locked ? t.lockedFiles : lacking && states.missing(lacking);
  if (data === undefined) return error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />;
  if (data.length === 0) return null;
  const remove = async (artifactId: number) => {
    await change(r.artifacts.delete, { params: { ...params, artifactId } });
    await invalidate("artifacts", "softwareModules");
  };
  return (
    <Card title={t.files} plain>
      <Table columns={[t.name, t.size, t.hash, t.added, { hidden: t.delete }]}>
        {data.map(({ id, providedFilename, size, hashes, createdAt }) => (
          <tr key={id}>
            <td>
              {lacksDownload === undefined ? (
                <a
                  href={new URL(`api/mgmt/v1/softwaremodules/${module.id}/artifacts/${id}/download`, server).href}
                  download={providedFilename}
                >
                  {providedFilename}
                </a>
              ) : (
                providedFilename
              )}
            </td>
            <td className="num">{bytes(size)}</td>
            <td>
              <code title={hashes.sha256}>{`${hashes.sha256.slice(0, 16)}…`}</code>
              <CopyButton text={hashes.sha256} label={t.copyHash} />
            </td>
            <td className="muted">
              <Time at={createdAt} />
            </td>
            <td>
              <Confirm
                small
                look="ghost"
                why={why}
                trigger={t.delete}
                title={t.deleteFile(providedFilename)}
                text=""
                button={t.delete}
                run={() => remove(id)}
              />
            </td>
          </tr>
        ))}
      </Table>
      {lacksDownload !== undefined && <p className="muted">{t.noDownload(states.missing(lacksDownload))}</p>}
    </Card>
  );
}
