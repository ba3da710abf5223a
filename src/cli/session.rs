//! The commands as clients of the server that agents use, so that what is warm for one is warm for all.

use std::path::Path;

use serde_json::Value;

use super::Context;
use crate::daemon::client::Client;
use crate::error::Result;
use crate::supervisor::setup::Site;

/// What the server's log calls us.
const NAME: &str = "coatepec command";

/// The server of a checkout, or one of our own that ends with its client.
pub(super) struct Server<'a> {
    site: Site,
    context: &'a Context,
}

impl Server<'_> {
    pub(super) fn root(&self) -> &Path {
        &self.site.root
    }

    pub(super) async fn connect(&self) -> Result<Client> {
        if self.context.share {
            match Client::shared(&self.site, NAME).await {
                Ok(client) => return Ok(client),
                // A place where nothing can be shared is no reason to do nothing.
                Err(error) => self.context.terminal.complain(&error),
            }
        }
        Client::private(&self.site, NAME).await
    }
}

/// Does something in a session with the server.
pub(super) fn within<T>(context: &Context, work: impl AsyncFnOnce(&Client, &Path) -> Result<T>) -> Result<T> {
    with_server(context, async |server| {
        let client = server.connect().await?;
        let done = work(&client, server.root()).await;
        client.close().await;
        done
    })
}

/// Does something in sessions with the server.
pub(super) fn with_server<T>(context: &Context, work: impl AsyncFnOnce(&Server<'_>) -> Result<T>) -> Result<T> {
    let site = context.site()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work(&Server { site, context }));
    runtime.shutdown_background();
    done
}

/// The answer of one tool.
pub(super) async fn ask(client: &Client, tool: &str, arguments: Value) -> Result<Value> {
    client.call(tool, arguments).await?.answer().await
}
