import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient, whenSignedOut } from "./api/query-client.ts";
import { signInSilently } from "./api/session.ts";
import { router } from "./routes.tsx";
import { applyTheme } from "./shell/theme.ts";
import { Toasts } from "./ui/toast.tsx";
import "./tokens.css";
import "./base.css";

applyTheme();
whenSignedOut(() => {
  const { pathname, href } = router.state.location;
  if (pathname === "/login") return;
  queryClient.clear();
  if (signInSilently(href)) return;
  void router.navigate({ to: "/login", search: { to: href } });
});

// The code of the page comes while the shell asks who has signed in. Where it does not, the router asks for it again and says so.
for (const route of router.getMatchedRoutes(router.latestLocation.pathname)[0]) router.loadRouteChunk(route)?.catch(() => undefined);

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
          <Toasts />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
