//! The commands as clients of the server that agents use, so that what is warm for one is warm for all.

use std::path::Path;

use serde_json::Value;

use super::Context;
use crate::daemon::client::Client;
use crate::error::Result;
use crate::supervisor::setup::Site;

/// What the server's log calls us.
const NAME: &str = "coatepec command";

/// Does something in a session with the server of this checkout, or with one of our own that ends with it.
pub(super) fn within<T>(context: &Context, work: impl AsyncFnOnce(&Client, &Path) -> Result<T>) -> Result<T> {
    let site = context.site()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let client = connect(&site, context).await?;
        let done = work(&client, &site.root).await;
        client.close().await;
        done
    });
    runtime.shutdown_background();
    done
}

async fn connect(site: &Site, context: &Context) -> Result<Client> {
    if context.share {
        match Client::shared(site, NAME).await {
            Ok(client) => return Ok(client),
            // A place where nothing can be shared is no reason to do nothing.
            Err(error) => context.terminal.complain(&error),
        }
    }
    Client::private(site, NAME).await
}

/// The answer of one tool.
pub(super) async fn ask(client: &Client, tool: &str, arguments: Value) -> Result<Value> {
    client.call(tool, arguments).await?.answer().await
}
