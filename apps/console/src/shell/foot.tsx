import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Keyboard, LogOut, Moon, Sun, SunMoon } from "lucide-react";
import { useLiveMode } from "../api/live.ts";
import { queryClient } from "../api/query-client.ts";
import { me, signOut } from "../api/session.ts";
import { shell as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { toastFailure } from "../ui/toast.tsx";
import style from "./shell.module.css";
import { useTheme } from "./theme.ts";

const icons = { system: SunMoon, light: Sun, dark: Moon };

/** The lower end of the navigation: whether the page is live, and who is signed in. */
export function Foot({ keys }: { keys: () => void }) {
  const { data } = useQuery(me);
  const mode = useLiveMode();
  const navigate = useNavigate();
  const [theme, next] = useTheme();
  const Icon = icons[theme];
  const leave = () => {
    signOut().then(() => {
      queryClient.clear();
      void navigate({ to: "/login" });
    }, toastFailure);
  };
  return (
    <div className={style["foot"]}>
      <div className={style["live"]} data-mode={mode}>
        <span className={style["pulse"]} />
        {mode === "live" ? t.live : t.polling}
      </div>
      <div className={style["user"]}>
        <span className={style["who"]}>
          <span className="cut">{data?.username}</span>
          <span className="muted cut">{data?.tenant}</span>
        </span>
        <Button look="ghost" small aria-label={t.keys} onClick={keys}>
          <Keyboard size={15} aria-hidden />
        </Button>
        <Button look="ghost" small aria-label={t.theme[theme]} onClick={next}>
          <Icon size={15} aria-hidden />
        </Button>
        <Button look="ghost" small aria-label={t.signOut} onClick={leave}>
          <LogOut size={15} aria-hidden />
        </Button>
      </div>
    </div>
  );
}
